import { useEffect, useRef, useState } from "react";
import { useAction } from "../api/query.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Failure } from "../ui/failure.tsx";
import { Form } from "../ui/form.tsx";
import { Stack } from "../ui/layout.tsx";
import { Notice } from "../ui/notice.tsx";
import { ownZone } from "../words/local-time.ts";
import { useWords } from "../words/words.ts";
import { ChainSteps } from "./chain-steps.tsx";
import { CronField } from "./cron-field.tsx";
import { type Draft, draftOf, inputOf, newDraft, paceOf, problemsOf, timetableOf } from "./draft.ts";
import { ActionStep, TimeStep, WarningStep } from "./editor-fields.tsx";
import { NextRuns } from "./next-runs.tsx";
import type { Schedule } from "./timetable.ts";
import { TriggerStep, WhenStep } from "./trigger-fields.tsx";

type EditorProps = {
  name: string;
  /** The one to change; none for a new one. */
  schedule?: Schedule;
  onClose: () => void;
};

/** What was typed and not saved, by server and schedule: closing the editor by mistake loses nothing. */
const kept = new Map<string, Draft>();

/** Makes or changes a schedule, step by step, with the runs that follow from it. */
export function Editor({ name, schedule, onClose }: EditorProps) {
  const { schedules, shell } = useWords();
  const key = `${name}/${schedule?.id ?? ""}`;
  const [draft, setDraft] = useState(
    () => kept.get(key) ?? (schedule ? draftOf(schedule) : newDraft(ownZone())),
  );
  const [tries, setTries] = useState(0);
  const create = useAction("schedules.create", ["schedules.list"]);
  const update = useAction("schedules.update", ["schedules.list"]);
  const form = useRef<HTMLDivElement>(null);
  const problems = problemsOf(draft);
  useEffect(() => {
    if (tries > 0) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [tries]);
  const change = (next: Partial<Draft>) => {
    const changed = { ...draft, ...next };
    kept.set(key, changed);
    setDraft(changed);
  };
  const discard = () => {
    kept.delete(key);
    onClose();
  };
  const save = () => {
    setTries(tries + 1);
    if (problems.size > 0) return;
    const input = { name, ...inputOf(draft) };
    if (schedule) update.mutate({ ...input, id: String(schedule.id) }, { onSuccess: discard });
    else create.mutate(input, { onSuccess: discard });
  };
  const step = { draft, change, problems: tries > 0 ? problems : new Set<never>() };
  const hasTimetable = !["time", "days", "zone"].some((field) => (problems as Set<string>).has(field));
  return (
    <Dialog
      isOpen
      title={schedule ? schedules.editTitle : schedules.newTitle}
      onClose={onClose}
      actions={
        <>
          <Button onPress={discard}>{shell.cancel}</Button>
          <Button kind="primary" isPending={create.isPending || update.isPending} onPress={save}>
            {schedule ? schedules.saveAction : schedules.createAction}
          </Button>
        </>
      }
    >
      <Failure error={create.error ?? update.error} />
      {schedule?.waits_until !== undefined && <Notice kind="waiting">{schedules.waitingHelp}</Notice>}
      <Form onSubmit={save}>
        <div ref={form}>
          <Stack>
            <ActionStep {...step} />
            <ChainSteps {...step} />
            <WhenStep {...step} />
            <TriggerStep {...step} />
            {draft.trigger === "none" && (
              <>
                <CronField action={paceOf(draft)} onTranslate={change} />
                <TimeStep {...step} />
                <WarningStep {...step} />
                <NextRuns timetable={hasTimetable ? timetableOf(draft) : undefined} />
              </>
            )}
          </Stack>
        </div>
      </Form>
    </Dialog>
  );
}
