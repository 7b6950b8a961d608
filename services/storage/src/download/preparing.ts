// The life of an operation whose files are still downloaded: it is renewed, so that no replica takes it for interrupted, and says
// how far the download is.

import type { files } from "@svc/proto";
import type { FileDeps } from "../file/deps.ts";
import { opKey } from "../file/op.ts";

export type Preparing = AsyncDisposable & {
  /** Aborts when another replica has ended the operation. */
  readonly signal: AbortSignal;
  readonly progress: (done: number, total: number) => void;
  /** Renews it a last time and returns its revision. Throws when it was ended. */
  finish: () => Promise<number>;
  /** The operation as it was written last. */
  current: () => { value: files.StoredFileOp; revision: number };
};

const endedMessage = "the operation was taken for interrupted; try again";

export function keepPreparing(
  deps: Pick<FileDeps, "settings" | "now" | "ops">,
  op: files.StoredFileOp,
  first: number,
): Preparing {
  const { file_op_deadline, file_op_kept, file_op_patience: patienceMs } = deps.settings.storage;
  const lost = new AbortController();
  let [value, revision] = [op, first];
  let [done, total] = [0, 0];
  // Serialized: each write needs the revision of the previous one.
  let last: Promise<unknown> = Promise.resolve();
  const renew = (): Promise<number> => {
    const work = last.then(async () => {
      const next = { ...value, done, total, preparing_at: deps.now() };
      const ttlMs = file_op_deadline + file_op_kept;
      const written = await deps.ops.update(opKey(op), next, revision, { ttlMs });
      if (written === undefined) throw new Error(endedMessage);
      [value, revision] = [next, written];
      return written;
    });
    last = work.catch(() => {});
    return work;
  };
  // A failed write alone says nothing: the next one finds out.
  const timer = setInterval(() => {
    renew().catch((error: Error) => {
      if (error.message === endedMessage) lost.abort(error);
    });
  }, patienceMs / 6);
  return {
    signal: lost.signal,
    progress: (nowDone, nowTotal) => {
      [done, total] = [nowDone, Math.max(nowTotal, nowDone)];
    },
    finish: () => {
      clearInterval(timer);
      lost.signal.throwIfAborted();
      return renew();
    },
    current: () => ({ value, revision }),
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer);
      await last;
    },
  };
}
