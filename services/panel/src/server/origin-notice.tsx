import type { Output } from "../api/operations.ts";
import { poll, useAction, useOperation } from "../api/query.ts";
import { useMe } from "../api/session.ts";
import { Button } from "../ui/button.tsx";
import { Failure } from "../ui/failure.tsx";
import { Notice } from "../ui/notice.tsx";
import { isolate } from "../words/format.ts";
import { visible } from "../words/visible.ts";
import { useWords } from "../words/words.ts";

type Origin = NonNullable<Output<"origins.read">["origin"]>;

const underWay = (origin: Origin | undefined) =>
  origin?.state === "backing_up" || origin?.state === "restoring";

/** On a clone whose world is not there: that it is on its way, or why it is not. */
export function OriginNotice({ name, isStopped }: { name: string; isStopped: boolean }) {
  const { server } = useWords();
  const { data } = useOperation(
    "origins.read",
    { name },
    { enabled: isStopped, every: (seen) => (underWay(seen?.origin) ? poll.busy : poll.history) },
  );
  const origin = data?.origin;
  if (!origin || !isStopped) return null;
  if (origin.state === "failed") return <FailedOrigin name={name} origin={origin} />;
  if (!underWay(origin)) return null;
  return (
    <Notice kind="waiting">
      <strong>{server.originUnderWay[origin.state === "backing_up" ? "backing_up" : "restoring"]}</strong>
      <p>{server.originLocked(isolate(origin.source))}</p>
    </Notice>
  );
}

function FailedOrigin({ name, origin }: { name: string; origin: Origin }) {
  const { server } = useWords();
  const isStaff = useMe().data?.is_admin ?? false;
  const retry = useAction("origins.retry", ["origins.read"]);
  return (
    <Notice
      kind="failed"
      actions={
        isStaff && (
          <Button isPending={retry.isPending} onPress={() => retry.mutate({ name })}>
            {server.originRetry}
          </Button>
        )
      }
    >
      <strong>{server.originFailed(isolate(origin.source))}</strong>
      <p>{server.originWhy[reasonOf(origin.code)]}</p>
      {origin.message !== undefined && (
        <p>
          {server.originDetail} <bdi>{visible(origin.message)}</bdi>
        </p>
      )}
      <Failure error={retry.error} />
    </Notice>
  );
}

const reasons = [
  "backup_gone",
  "backup_incomplete",
  "source_not_stopped",
  "no_world_volume",
  "volume_full",
  "backup_corrupt",
] as const;

function reasonOf(code: Origin["code"]): (typeof reasons)[number] | "other" {
  return reasons.find((one) => one === code) ?? "other";
}
