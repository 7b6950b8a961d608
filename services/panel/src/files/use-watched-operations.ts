import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { OperationName, Output } from "../api/operations.ts";
import { poll, useOperation } from "../api/query.ts";

export type Op = Output<"files.listOperations">["ops"][number];

/**
 * Operations that were seen to run by this page and have not succeeded; those that ended before it was opened are nobody's
 * news. `onDone` hears of each that succeeds, and `changes` is read again then.
 */
export function useWatchedOperations(
  name: string,
  {
    isMine,
    changes,
    onDone,
  }: { isMine: (op: Op) => boolean; changes: OperationName; onDone: (op: Op) => void },
) {
  const client = useQueryClient();
  const [watched, setWatched] = useState<ReadonlySet<string>>(new Set());
  const isRunning = (ops: readonly Op[] = []) => ops.some(({ state }) => state === "running");
  const { data } = useOperation(
    "files.listOperations",
    { name },
    // Its progress is not a change.
    {
      every: (now) => (isRunning(now?.ops) ? poll.job : poll.list),
      isFollowed: (now) => !isRunning(now?.ops),
    },
  );
  const ops = (data?.ops ?? []).filter(isMine);
  const forget = (id: string) => setWatched((ids) => new Set([...ids].filter((other) => other !== id)));
  // biome-ignore lint/correctness/useExhaustiveDependencies: only new data counts
  useEffect(() => {
    const running = ops.filter(({ id, state }) => state === "running" && !watched.has(id));
    if (running.length > 0) setWatched(new Set([...watched, ...running.map(({ id }) => id)]));
    for (const op of ops) {
      if (op.state !== "succeeded" || !watched.has(op.id)) continue;
      forget(op.id);
      void client.invalidateQueries({ queryKey: [changes] });
      onDone(op);
    }
  }, [data]);
  return { shown: ops.filter(({ id, state }) => watched.has(id) && state !== "succeeded"), forget };
}
