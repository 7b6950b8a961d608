import { useAction } from "../api/query.ts";
import { Button } from "../ui/button.tsx";
import { Failure } from "../ui/failure.tsx";
import { Muted, Row } from "../ui/layout.tsx";
import { Notice } from "../ui/notice.tsx";
import { Steps } from "../ui/steps.tsx";
import { Time } from "../ui/time.tsx";
import { isolate } from "../words/format.ts";
import { visible } from "../words/visible.ts";
import { useWords } from "../words/words.ts";
import { reasonOf } from "./move-reason.ts";
import { type Migration, stepsOf } from "./move-steps.ts";

const changed = ["migrations.readLatest", "migrations.list", "servers.viewStatus"] as const;

/** How far the latest move is, and what can be done about one that failed. */
export function MoveProgress({ name, migration }: { name: string; migration: Migration }) {
  const { settings } = useWords();
  const retry = useAction("migrations.retry", changed);
  const cancel = useAction("migrations.cancel", changed);
  const { id, state, sourceNode, targetNode, started, error } = migration;
  const title = settings.moveFromTo(isolate(sourceNode), isolate(targetNode));
  const isFailed = state === "failed";
  if (migration.cancelled) return <Muted>{settings.moveCancelled}</Muted>;
  if (state === "succeeded")
    return (
      <Muted>
        {settings.moved(isolate(sourceNode), isolate(targetNode))} <Time at={migration.updated} />
      </Muted>
    );
  return (
    <>
      <p>
        <strong>{title}</strong> · {settings.begun} <Time at={started} />
      </p>
      <Steps
        label={title}
        steps={stepsOf(migration).map(([stage, step]) => ({
          key: stage,
          title: settings.stages[stage],
          state: step,
          word: settings.stepStates[step],
        }))}
      />
      {isFailed && (
        <Notice kind="failed">
          <p>{settings.moveFailed}</p>
          {error !== undefined && <Reason error={error} />}
        </Notice>
      )}
      <Failure error={retry.error ?? cancel.error} />
      <Row>
        {isFailed && (
          <Button kind="primary" isPending={retry.isPending} onPress={() => retry.mutate({ name, id })}>
            {settings.retryMove}
          </Button>
        )}
        {state !== "switching" && (
          <Button isPending={cancel.isPending} onPress={() => cancel.mutate({ name, id })}>
            {settings.cancelMove}
          </Button>
        )}
      </Row>
    </>
  );
}

/** In words, and as the service said it, for whoever looks for it in a log. */
function Reason({ error }: { error: string }) {
  const { settings } = useWords();
  return (
    <>
      <p>{settings.moveReasons[reasonOf(error)]}</p>
      <Muted>
        {settings.moveDetail} <bdi lang="en">{visible(error)}</bdi>
      </Muted>
    </>
  );
}
