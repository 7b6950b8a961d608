import { useState } from "react";
import type { OperationName } from "../api/operations.ts";
import { useAction } from "../api/query.ts";
import type { ServerRow } from "../server/row.ts";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { Failure } from "../ui/failure.tsx";
import { ListItem } from "../ui/list.tsx";
import { useToast } from "../ui/toasts.tsx";
import { isolate } from "../words/format.ts";
import { useGroupWords } from "../words/group-words.ts";
import { visible } from "../words/visible.ts";
import type { Group } from "./draft.ts";
import { GroupDialog } from "./group-dialog.tsx";
import { RunLine, RunResults } from "./group-run.tsx";

type ItemProps = { group: Group; servers: readonly ServerRow[] };

/** What is read again after a start or stop. */
const changed: readonly OperationName[] = ["serverGroups.list", "ownership.listMine"];

/** One group, its last run, and what can be done with it. */
export function GroupItem({ group, servers }: ItemProps) {
  const [isEditing, setEditing] = useState(false);
  const { name, run } = group;
  return (
    <>
      <ListItem
        isLong
        title={<bdi>{visible(name)}</bdi>}
        details={<About group={group} />}
        actions={<Actions group={group} onEdit={() => setEditing(true)} />}
        below={run && <RunResults name={name} run={run} />}
      />
      {isEditing && <GroupDialog group={group} servers={servers} onClose={() => setEditing(false)} />}
    </>
  );
}

function About({ group: { stages, run } }: { group: Group }) {
  const words = useGroupWords();
  const lost = stages.flat().filter(({ may }) => !may);
  return (
    <>
      {stages.map((stage, at) => {
        const names = stage.map((one) => one.name);
        return <div key={names.join()}>{words.order(at + 1, names.join(", "))}</div>;
      })}
      {stages.length === 0 && <div>{words.empty}</div>}
      {lost.length > 0 && <div>{words.noRight(lost.map((one) => one.name).join(", "))}</div>}
      {run && <RunLine run={run} />}
    </>
  );
}

function Actions({ group, onEdit }: { group: Group; onEdit: () => void }) {
  const words = useGroupWords();
  const start = useAction("serverGroups.start", changed);
  const cancel = useAction("serverGroups.cancel", changed);
  const { id, name, run, stages } = group;
  const shown = isolate(visible(name));
  const isRunning = run?.state === "running";
  const whyNot = stages.length === 0 ? words.empty : undefined;
  return (
    <>
      {isRunning ? (
        <Button
          label={words.cancelOf(shown)}
          isPending={cancel.isPending}
          whyNot={run.cancelling ? words.cancelling : undefined}
          onPress={() => cancel.mutate({ id })}
        >
          {words.cancel}
        </Button>
      ) : (
        <>
          <Button
            kind="primary"
            label={words.startOf(shown)}
            isPending={start.isPending}
            whyNot={whyNot}
            onPress={() => start.mutate({ id })}
          >
            {words.start}
          </Button>
          <Stop id={id} shown={shown} whyNot={whyNot} />
        </>
      )}
      <Button label={words.editOf(shown)} whyNot={isRunning ? words.running : undefined} onPress={onEdit}>
        {words.edit}
      </Button>
      <Remove id={id} shown={shown} whyNot={isRunning ? words.running : undefined} />
      <Failure error={start.error ?? cancel.error} />
    </>
  );
}

type AskedProps = { id: string; shown: string; whyNot: string | undefined };

function Stop({ id, shown, whyNot }: AskedProps) {
  const words = useGroupWords();
  const stop = useAction("serverGroups.stop", changed);
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Button
        label={words.stopOf(shown)}
        isPending={stop.isPending}
        whyNot={whyNot}
        onPress={() => setAsking(true)}
      >
        {words.stop}
      </Button>
      <Failure error={stop.error} />
      <Confirm
        title={words.stopTitle(shown)}
        action={words.stopAction}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={() => stop.mutate({ id })}
      >
        {words.stopHelp}
      </Confirm>
    </>
  );
}

function Remove({ id, shown, whyNot }: AskedProps) {
  const words = useGroupWords();
  const toast = useToast();
  const remove = useAction("serverGroups.remove", ["serverGroups.list"]);
  const [isAsking, setAsking] = useState(false);
  const run = () => remove.mutate({ id }, { onSuccess: () => toast({ kind: "done", text: words.removed }) });
  return (
    <>
      <Button
        label={words.removeOf(shown)}
        isPending={remove.isPending}
        whyNot={whyNot}
        onPress={() => setAsking(true)}
      >
        {words.remove}
      </Button>
      <Failure error={remove.error} />
      <Confirm
        title={words.removeTitle(shown)}
        action={words.removeAction}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={run}
      >
        {words.removeHelp}
      </Confirm>
    </>
  );
}
