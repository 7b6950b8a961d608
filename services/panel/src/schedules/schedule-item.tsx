import { useEffect, useRef, useState } from "react";
import { useAccess } from "../access/use-access.ts";
import { useAction } from "../api/query.ts";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { ListItem } from "../ui/list.tsx";
import { Menu } from "../ui/menu.tsx";
import { Switch } from "../ui/switch.tsx";
import { failedToast, useToast } from "../ui/toasts.tsx";
import { isolate } from "../words/format.ts";
import { visible } from "../words/visible.ts";
import { useWords } from "../words/words.ts";
import { draftOf, inputOf } from "./draft.ts";
import { Editor } from "./editor.tsx";
import { ScheduleDetails } from "./schedule-details.tsx";
import { stepsOf, titleWords } from "./schedule-words.ts";
import type { Schedule } from "./timetable.ts";

type ScheduleItemProps = {
  name: string;
  schedule: Schedule;
  playersOnline: number;
  onRemove: (schedule: Schedule) => void;
};

/** One schedule: when it runs, how it went, and what can be done with it. */
export function ScheduleItem({ name, schedule, playersOnline, onRemove }: ScheduleItemProps) {
  const words = useWords();
  const { schedules } = words;
  const [isEditing, setEditing] = useState(false);
  const { may } = useAccess();
  const mayPlan = may("command") && may("power") && may("backups.make");
  const { label } = schedule;
  const title = titleWords(words, schedule);
  const what = label === "" ? title : isolate(label);
  const edit = { word: schedules.edit, run: () => setEditing(true) };
  const remove = { word: schedules.remove, run: () => onRemove(schedule), isDanger: true };
  const acts = [...(mayPlan ? [edit] : []), ...(isBusy(schedule) ? [] : [remove])];
  return (
    <>
      <ListItem
        title={<bdi>{label === "" ? title : visible(label)}</bdi>}
        details={<ScheduleDetails schedule={schedule} />}
        actions={
          <>
            {mayPlan && (
              <>
                <OnOff name={name} schedule={schedule} what={what} />
                <RunNow name={name} schedule={schedule} what={what} playersOnline={playersOnline} />
              </>
            )}
            {acts.length > 0 && <Menu label={schedules.more(what)} actions={acts} />}
          </>
        }
      />
      {isEditing && <Editor name={name} schedule={schedule} onClose={() => setEditing(false)} />}
    </>
  );
}

/** A run between two steps is ended by what changes its schedule; any other has to be waited for. */
const isBusy = ({ run_state, waits_until }: Schedule) => run_state !== "" && waits_until === undefined;

type PartProps = { name: string; schedule: Schedule; what: string };

/** Shows at once what was chosen; a refusal takes it back. */
function OnOff({ name, schedule, what }: PartProps) {
  const words = useWords();
  const { schedules } = words;
  const toast = useToast();
  const update = useAction("schedules.update", ["schedules.list"]);
  const [intent, setIntent] = useState<boolean>();
  const newest = useRef(schedule);
  newest.current = schedule;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the newest state of the service replaces the intent
  useEffect(() => setIntent(undefined), [schedule]);
  const turn = (enabled: boolean, undo?: () => void) => {
    setIntent(enabled);
    update.mutate(
      { name, id: String(schedule.id), ...inputOf(draftOf(newest.current)), enabled },
      {
        onError: (error) => {
          setIntent(undefined);
          toast(failedToast(words, error));
        },
        onSuccess: () =>
          toast({
            kind: "done",
            text: enabled ? schedules.enabled : schedules.disabled,
            ...(undo && { action: { word: schedules.undo, run: undo } }),
          }),
      },
    );
  };
  return (
    <Switch
      label={schedules.enable(what)}
      isOn={intent ?? schedule.enabled}
      whyNot={isBusy(schedule) ? words.reasons.running : undefined}
      onChange={(next) => turn(next, () => turn(!next))}
    />
  );
}

/** Asks first where it would take players off the server without a warning. */
function RunNow({ name, schedule, what, playersOnline }: PartProps & { playersOnline: number }) {
  const words = useWords();
  const { schedules } = words;
  const toast = useToast();
  const [isAsking, setAsking] = useState(false);
  const run = useAction("schedules.runNow", ["schedules.list", "servers.viewStatus"]);
  const { id, run_state } = schedule;
  const steps = stepsOf(schedule).map((step) => step.action);
  const costly = steps.find((action) => action !== "command" && action !== "start");
  const start = () =>
    run.mutate({ name, id: String(id) }, { onError: (error) => toast(failedToast(words, error)) });
  const action = schedules.actions[costly ?? schedule.action];
  const costsPlayers = playersOnline > 0 && costly !== undefined;
  return (
    <>
      <Button
        label={schedules.runOf(what)}
        isPending={run.isPending}
        whyNot={run_state === "" ? undefined : words.reasons.running}
        onPress={() => (costsPlayers ? setAsking(true) : start())}
      >
        {schedules.run}
      </Button>
      <Confirm
        title={schedules.runTitle(action)}
        action={action}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={start}
      >
        <p>{schedules.runHelp(playersOnline)}</p>
      </Confirm>
    </>
  );
}
