import { useQueryClient } from "@tanstack/react-query";
import type { Output } from "../api/operations.ts";
import { useAction } from "../api/query.ts";
import { Button } from "../ui/button.tsx";
import { Row } from "../ui/layout.tsx";
import { Notice } from "../ui/notice.tsx";
import { Progress } from "../ui/progress.tsx";
import { failedToast, useToast } from "../ui/toasts.tsx";
import { faultWords } from "../words/faults.ts";
import { isolate } from "../words/format.ts";
import { visible } from "../words/visible.ts";
import { useWords, type Words } from "../words/words.ts";
import { nameOf } from "./path.ts";
import { decideUnzipChoice } from "./unzip-choice.ts";
import { type Op, useWatchedOperations } from "./use-watched-operations.ts";

/** Archives that are being extracted, and those that could not be, each with what the person can decide. */
export function UnzipNotices({ name }: { name: string }) {
  const { files } = useWords();
  const toast = useToast();
  const { shown, forget } = useWatchedOperations(name, {
    isMine: ({ op }) => op === "unzip",
    changes: "files.list",
    onDone: (op) => {
      const archive = isolate(nameOf(op.path));
      const left = op.left_out_count ?? 0;
      const text = left === 0 ? files.unzipped(archive, op.files ?? 0) : files.unzippedWithout(archive, left);
      toast({ kind: "done", text });
    },
  });
  return shown.map((op) => <UnzipNotice key={op.id} name={name} op={op} onClose={() => forget(op.id)} />);
}

function UnzipNotice({ name, op, onClose }: { name: string; op: Op; onClose: () => void }) {
  const words = useWords();
  const { files, uploads } = words;
  const start = useUnzip(name);
  const { path, error, done, total } = op;
  const archive = nameOf(path);
  if (op.state === "running")
    return (
      <Notice kind="waiting">
        {files.unzipping(isolate(archive))} {files.mayLeave}
        {total > 0 && <Progress label={files.unzipping(isolate(archive))} value={done} max={total} />}
      </Notice>
    );
  const choice = decideUnzipChoice(error?.code);
  const again = () => {
    onClose();
    start.unzip(path, choice === "replace" ? { overwrite: true } : { skip_protected: true });
  };
  const conflicts = error?.conflicts ?? [];
  const more = (error?.conflict_count ?? conflicts.length) - conflicts.length;
  return (
    <Notice
      kind="failed"
      isAlert
      actions={
        <Row>
          <Button onPress={onClose}>{uploads.close}</Button>
          {choice && <Button onPress={again}>{files.unzipChoices[choice]}</Button>}
        </Row>
      }
    >
      {choice ? files.unzipAsks[choice](isolate(archive)) : files.unzipFailed(isolate(archive))}{" "}
      {!choice && error && archiveFaultWords(words, error)}{" "}
      {error?.entry && <bdi>{visible(error.entry)}</bdi>}
      {conflicts.length > 0 && (
        <ul>
          {conflicts.map((conflict) => (
            <li key={conflict}>
              <bdi>{visible(conflict)}</bdi>
            </li>
          ))}
          {more > 0 && <li>{files.andMore(more)}</li>}
        </ul>
      )}
    </Notice>
  );
}

function archiveFaultWords(words: Words, error: NonNullable<Op["error"]>): string {
  const known: Readonly<Record<string, string>> = words.files.archiveFaults;
  return known[error.code] ?? faultWords(words, error);
}

type Rules = { overwrite?: true; skip_protected?: true };

/** Starts to extract an archive where it is. */
export function useUnzip(name: string): { unzip: (path: string, rules?: Rules) => void } {
  const words = useWords();
  const toast = useToast();
  const client = useQueryClient();
  const start = useAction("files.unzip");
  const unzip = (path: string, rules: Rules = {}) =>
    void start.mutateAsync({ name, path, ...rules }).then(
      ({ op }) => {
        const key = ["files.listOperations", { name }];
        client.setQueryData<Output<"files.listOperations">>(key, (old) => ({
          ops: [op, ...(old?.ops ?? [])],
        }));
        void client.invalidateQueries({ queryKey: key });
      },
      (error) => toast(failedToast(words, error)),
    );
  return { unzip };
}
