import { type Handler, readDigest } from "@svc/mesh";
import { Fault, submissions } from "@svc/proto";
import { accountOf } from "./caller.ts";
import type { SubmissionDeps } from "./deps.ts";
import { toProgress } from "./read-upload.ts";
import { receiveBytes } from "./receive.ts";
import { getOwnPending } from "./store.ts";
import { acquireUpload, readStaged } from "./upload-lease.ts";

/** builds.submission.put-context-part: checked before a byte is read, stored under a lease. */
export const putContextPart =
  (deps: SubmissionDeps): Handler<typeof submissions.putContextPart> =>
  async (context, { id, offset, content_length: length, content_digest }) => {
    const { db, settings, contexts, byteTransfers } = deps;
    const sha256 = readDigest(content_digest);
    assertPart({ offset, length }, settings.registry.context_max_bytes);
    const { userId } = accountOf(context.principal);
    await getOwnPending(db, { id, userId });
    const staged = await readStaged(db, id);
    if (staged.isBusy) throw context.fault("upload_busy");
    if (offset !== 0 && offset !== staged.received) {
      const message = `The next part starts at ${staged.received}.`;
      throw context.fault("upload_offset_mismatch", { message });
    }
    context.reply.byteTransfer = byteTransfers.upload({
      receive: async (body, _head, signal) => {
        await using lease = await acquireUpload(deps, { id, userId, offset, bytes: length });
        await receiveBytes(contexts, lease, { body, id, length, sha256, isLast: true, signal });
        deps.metrics.received(length);
        return toProgress(settings, lease.received);
      },
    });
    return null as never;
  };

function assertPart({ offset, length }: { offset: number; length: number }, most: number): void {
  if (length === 0) throw new Fault("bad_request", { message: "A part must have at least one byte." });
  if (length > submissions.contextPartBytes) throw new Fault("part_too_large");
  assertContextBytes(offset + length, most);
}

export function assertContextBytes(bytes: number, most: number): void {
  if (bytes > most) throw new Fault("bad_request", { message: `A context may have at most ${most} bytes.` });
}
