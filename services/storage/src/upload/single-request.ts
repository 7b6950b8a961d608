import type { Context, Handler } from "@svc/mesh";
import { readDigest } from "@svc/mesh";
import { type AnyContract, uploads } from "@svc/proto";
import { mayAccess } from "../access.ts";
import { assertTransfersEnabled, openStoppedWorld } from "../file/open-world.ts";
import { readTarget } from "../file/path.ts";
import { runOnWorld } from "../file/run-on-world.ts";
import { newToken } from "../one-time-token.ts";
import { commitTask } from "./commit-task.ts";
import type { UploadDeps } from "./deps.ts";
import { deleteUpload } from "./quota.ts";
import { assertCanFit, reserveSpace } from "./reservation.ts";
import { acquireLease, newUploadId, type StoredUpload, ttlOf } from "./session.ts";

/** storage.upload.whole: everything that can be checked is checked before the body is read. */
export const upload =
  (deps: UploadDeps): Handler<typeof uploads.upload> =>
  async (context, { name: server, path: given, overwrite, content_length: size, content_digest }) => {
    const path = readTarget(given);
    const sha256 = readDigest(content_digest);
    assertTransfersEnabled(deps);
    await openStoppedWorld(deps, { ...context, server, to: uploads.upload, writes: [path] });
    await assertCanFit(deps, size);
    const request = { server, path, size, sha256, overwrite: overwrite === "true" };
    context.reply.byteTransfer = deps.byteTransfers.upload({
      stallMs: deps.settings.storage.transfer_stall,
      receive: (body, _head, signal) => receiveAndCommit(deps, { context, body, signal }, request),
    });
    return null as never;
  };

type IncomingBody = {
  context: Context<AnyContract>;
  body: AsyncIterable<Uint8Array>;
  signal: AbortSignal;
};
type UploadRequest = { server: string; path: string; size: number; sha256: string; overwrite: boolean };

async function receiveAndCommit(
  deps: UploadDeps,
  { context, body, signal }: IncomingBody,
  request: UploadRequest,
) {
  const { principal } = context;
  const wanted = { to: uploads.upload, writes: [request.path] };
  const { server, path, size, sha256, overwrite } = request;
  const id = newUploadId();
  const { token, hash } = newToken();
  const user_id = principal.kind === "account" ? principal.user_id : "";
  const about: StoredUpload = { id, kind: "single", server, user_id, path, size, parts: [] };
  // It stays staged until its Job has committed it.
  const { file_wait: holdMs } = deps.settings.storage;
  await using _room = await reserveSpace(deps, { user_id, bytes: size, holdMs });
  try {
    {
      using rights = deps.rights.watch(server, (world) => mayAccess(principal, world, wanted));
      const stop = AbortSignal.any([signal, rights.signal]);
      await stageBody(deps, about, { body, signal: stop, sha256, hash });
    }
    const job = commitTask(deps, { ...about, parts: [{ size, sha256 }] }, { overwrite, token });
    const change = { action: "file.upload", path, payload: { size, sha256, overwrite } };
    await runOnWorld(deps, { ...context, ...wanted, server, signal, ...job, change });
    // The Job reports this itself, but its report may be lost.
    await deleteUpload(deps, id).catch(() => {});
    return { path, status: "uploaded" as const, sha256, size };
  } catch (error) {
    // A Job that outlives our wait still needs the staged file; the sweep deletes it later.
    if (!isLate(error)) await deleteUpload(deps, id).catch(() => {});
    throw error;
  }
}

type Staged = Pick<IncomingBody, "body" | "signal"> & { sha256: string; hash: string };

// Recorded first, since unknown folders are swept; with a short TTL that is renewed while bytes arrive.
async function stageBody(
  deps: Pick<UploadDeps, "settings" | "now" | "transferMetrics" | "uploads" | "staging">,
  about: StoredUpload,
  { body, signal, sha256, hash }: Staged,
) {
  const { id, size } = about;
  const revision = await deps.uploads.create(id, about, { ttlMs: ttlOf(deps, about) });
  await using lease = await acquireLease(deps, { value: about, revision: revision ?? 0 });
  const stop = AbortSignal.any([signal, lease.signal]);
  const part = await deps.staging.receive(body, { id, offset: 0, length: size, sha256, signal: stop });
  deps.transferMetrics.staged(size);
  await lease.finish((now) => ({ ...now, parts: [part], token: { hash, is_used: false } }));
}

function isLate(error: unknown): boolean {
  return error instanceof Error && "fault" in error && error.fault === "files_timeout";
}
