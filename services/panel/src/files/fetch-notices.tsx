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
import { type Op, useWatchedOperations } from "./use-watched-operations.ts";

/** Files that are being fetched from an address, and those that could not be. */
export function FetchNotices({ name }: { name: string }) {
  const { fetch } = useFileWords();
  const toast = useToast();
  const { shown, forget } = useWatchedOperations(name, {
    isMine: ({ from }) => from?.includes("://") ?? false,
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
