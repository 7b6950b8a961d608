import type { Handler, UploadHead } from "@svc/mesh";
import { readDigest } from "@svc/mesh";
import { Fault, uploads } from "@svc/proto";
import { mayAccess } from "../access.ts";
import { assertTransfersEnabled } from "../file/open-world.ts";
import type { UploadDeps } from "./deps.ts";
import { reserveSpace } from "./reservation.ts";
import { acquireLease, assertNoWriter, checkPart, findUpload, openSession, toSession } from "./session.ts";

/** storage.upload.put-part: checked before a byte is read, stored under a lease. */
export const putPart =
  (deps: UploadDeps): Handler<typeof uploads.putPart> =>
  async (context, { name, id, offset, content_length: length, content_digest }) => {
    const sha256 = readDigest(content_digest);
    const { value } = await openSession(deps, { ...context, server: name, id, to: uploads.putPart });
    assertTransfersEnabled(deps);
    assertNoWriter(value, deps.now());
    checkPart(value, { offset, length }, deps.settings.storage.upload_parts);
    const wanted = { to: uploads.putPart, writes: [value.path] };
    const part = { id, offset, length, sha256 };
    const { transfer_stall: stallMs } = deps.settings.storage;
    context.reply.byteTransfer = deps.byteTransfers.upload({
      stallMs,
      receive: async (body, _head: UploadHead, signal) => {
        using rights = deps.rights.watch(name, (world) => mayAccess(context.principal, world, wanted));
        const stop = AbortSignal.any([signal, rights.signal]);
        // Awaited: the watch ends with this function.
        return await receivePart(deps, body, { ...part, signal: stop });
      },
    });
    return null as never;
  };

type IncomingPart = { id: string; offset: number; length: number; sha256: string; signal: AbortSignal };

async function receivePart(
  deps: UploadDeps,
  body: AsyncIterable<Uint8Array>,
  coming: IncomingPart,
): Promise<uploads.FileUploadSession> {
  const { id, offset, length } = coming;
  const entry = await findUpload(deps, id);
  if (!entry) throw new Fault("upload_not_found");
  await using lease = await acquireLease(deps, entry);
  checkPart(lease.upload, { offset, length }, deps.settings.storage.upload_parts);
  const { user_id } = lease.upload;
  await using _room = await reserveSpace(deps, { user_id, bytes: length });
  const signal = AbortSignal.any([coming.signal, lease.signal]);
  const part = await deps.staging.receive(body, { ...coming, signal });
  try {
    const done = await lease.finish((upload) => ({ ...upload, parts: [...upload.parts, part] }));
    deps.transferMetrics.staged(length);
    return toSession(done);
  } catch (error) {
    return resolveLostAnswer(deps, { id, part }, error);
  }
}

// A lost answer of NATS may have been a success.
async function resolveLostAnswer(
  deps: Pick<UploadDeps, "uploads" | "staging">,
  { id, part }: { id: string; part: uploads.StagedPart },
  error: unknown,
): Promise<uploads.FileUploadSession> {
  const now = await findUpload(deps, id);
  if (now?.value.parts.some(({ file }) => file === part.file)) return toSession(now.value);
  await deps.staging.discard(id, part).catch(() => {});
  throw now ? error : new Fault("upload_not_found");
}
