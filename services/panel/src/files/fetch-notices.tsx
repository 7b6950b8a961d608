import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { OperationName, Output } from "../api/operations.ts";
import { poll, useOperation } from "../api/query.ts";
import { Button } from "../ui/button.tsx";
import { Notice } from "../ui/notice.tsx";
import { Progress } from "../ui/progress.tsx";
import { useToast } from "../ui/toasts.tsx";
import { faultWords } from "../words/faults.ts";
import { useFileWords } from "../words/file-words.ts";
import { isolate } from "../words/format.ts";
import { visible } from "../words/visible.ts";
import { useWords } from "../words/words.ts";
import { nameOf } from "./path.ts";

type Op = Output<"files.listOperations">["ops"][number];

/**
 * Fetches that were seen to run by this page and have not succeeded; those that ended before it was opened are nobody's news.
 * `onDone` hears of each that succeeds, and `changes` is read again then.
 */
export function useWatchedFetches(
  name: string,
  {
    isMine,
    changes,
    onDone,
  }: { isMine: (from: string) => boolean; changes: OperationName; onDone: (op: Op) => void },
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
  const ops = (data?.ops ?? []).filter(({ from }) => from !== undefined && isMine(from));
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

/** Files that are being fetched from an address, and those that could not be. */
export function FetchNotices({ name }: { name: string }) {
  const { fetch } = useFileWords();
  const toast = useToast();
  const { shown, forget } = useWatchedFetches(name, {
    isMine: (from) => from.includes("://"),
    changes: "files.list",
    onDone: ({ path }) => toast({ kind: "done", text: fetch.done(isolate(nameOf(path))) }),
  });
  return shown.map((op) => {
    const file = isolate(nameOf(op.path));
    return (
      <OpNotice
        key={op.id}
        op={op}
        running={fetch.running(file)}
        failed={fetch.failed(file)}
        onClose={() => forget(op.id)}
      />
    );
  });
}

type OpNoticeProps = { op: Op; running: string; failed: string; onClose: () => void };

/** An operation that runs, or why it failed. */
export function OpNotice({ op, running, failed, onClose }: OpNoticeProps) {
  const words = useWords();
  const { files, uploads } = words;
  const { error, done, total } = op;
  if (op.state === "running")
    return (
      <Notice kind="waiting">
        {running} {files.mayLeave}
        {total > 0 && <Progress label={running} value={done} max={total} />}
      </Notice>
    );
  return (
    <Notice kind="failed" isAlert actions={<Button onPress={onClose}>{uploads.close}</Button>}>
      {failed} {error && (error.code === "file_exists" ? faultWords(words, error) : visible(error.message))}
    </Notice>
  );
}
