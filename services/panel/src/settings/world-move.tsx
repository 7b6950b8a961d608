import { useState } from "react";
import { poll, useAction, useOperation } from "../api/query.ts";
import { useMissing } from "../api/use-missing.ts";
import type { FullStatus } from "../server/use-server.ts";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { Failure } from "../ui/failure.tsx";
import { Card, Facts, Muted, Row } from "../ui/layout.tsx";
import { Loading } from "../ui/loading.tsx";
import { Select } from "../ui/select.tsx";
import { isolate } from "../words/format.ts";
import { useWords } from "../words/words.ts";
import { MoveProgress } from "./move-progress.tsx";
import { isMoving, isUnfinished, targetsOf } from "./move-steps.ts";

type MoveProps = { name: string; status: FullStatus };

/** The node of a server, and moving its world to another one. */
export function WorldMove({ name, status }: MoveProps) {
  const { settings, server } = useWords();
  const latest = useOperation(
    "migrations.readLatest",
    { name },
    { every: (migration) => (isMoving(migration) ? poll.job : poll.list) },
  );
  // The form stands on this answer, and holds a target that was chosen.
  const hasNone = useMissing(name, latest) !== null;
  const migration = hasNone ? undefined : latest.data;
  const isOpen = migration !== undefined && isUnfinished(migration);
  return (
    <Card title={settings.node}>
      {status.nodeName !== undefined && (
        <Facts rows={[[server.node, <bdi key="node">{status.nodeName}</bdi>]]} />
      )}
      {latest.error && !hasNone && <Failure error={latest.error} retry={() => void latest.refetch()} />}
      {latest.isPending && !hasNone && <Loading />}
      {migration && <MoveProgress name={name} migration={migration} />}
      {(hasNone || latest.data) && !isOpen && <BeginMove name={name} status={status} />}
    </Card>
  );
}

function BeginMove({ name, status }: MoveProps) {
  const { reasons, settings } = useWords();
  const nodes = useOperation("nodes.listNodes", {});
  const begin = useAction("migrations.begin", ["migrations.readLatest", "servers.viewStatus"]);
  const [target, setTarget] = useState("");
  const [isAsking, setAsking] = useState(false);
  if (!nodes.data)
    return nodes.error ? <Failure error={nodes.error} retry={() => void nodes.refetch()} /> : <Loading />;
  const targets = targetsOf(nodes.data.nodes, status.nodeName);
  if (targets.length === 0) return <Muted>{settings.noOtherNode}</Muted>;
  const isAsleep = status.phase === "Stopped";
  const whyNot = isAsleep ? (target === "" ? reasons.choose : undefined) : reasons.awake;
  return (
    <>
      <Muted>{isAsleep ? settings.moveHelp : settings.moveAsleep}</Muted>
      <Failure error={begin.error} />
      <Row isLow>
        <Select
          label={settings.moveTo}
          value={target}
          onChange={setTarget}
          options={[["", settings.choose] as const, ...targets.map((node) => [node, node] as const)]}
        />
        <Button isPending={begin.isPending} whyNot={whyNot} onPress={() => setAsking(true)}>
          {settings.move}
        </Button>
      </Row>
      <Confirm
        title={settings.moveTitle(isolate(name), isolate(target))}
        action={settings.move}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={() => begin.mutate({ name, targetNode: target })}
      >
        <p>{settings.moveConfirm}</p>
      </Confirm>
    </>
  );
}
