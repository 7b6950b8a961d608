import type { Context, Handler } from "@svc/mesh";
import { auditActor } from "@svc/mesh";
import { type AnyContract, type Principal, uploads } from "@svc/proto";
import { assertMayAccess } from "../access.ts";
import { admitOp, type Launch, launch, recordFailedStart } from "../file/launch.ts";
import { endOp, newOp, opKey, toFileOp } from "../file/op.ts";
import { assertTransfersEnabled, lockWorld } from "../file/open-world.ts";
import { describeWorld } from "../job/world.ts";
import { newToken } from "../one-time-token.ts";
import { commitTask } from "./commit-task.ts";
import type { UploadDeps } from "./deps.ts";
import { acquireLease, type Lease, openSession, receivedBytes } from "./session.ts";

/** storage.upload.commit: everything is checked before the answer, the Job starts after it. */
export const commit =
  (deps: UploadDeps): Handler<typeof uploads.commit> =>
  async (context, { name: server, id, overwrite = false }) => {
    assertTransfersEnabled(deps);
    const entry = await openSession(deps, { ...context, server, id, to: uploads.commit });
    if (receivedBytes(entry.value) < entry.value.size) throw context.fault("upload_not_complete");
    const lease = await acquireLease(deps, entry);
    try {
      const started = await begin(deps, { context, server, lease, overwrite });
      return { op: toFileOp(started) };
    } catch (error) {
      await lease[Symbol.asyncDispose]();
      throw error;
    }
  };

type Commit = { context: Context<AnyContract>; server: string; lease: Lease; overwrite: boolean };

async function begin(deps: UploadDeps, { context, server, lease, overwrite }: Commit) {
  const { id, path } = lease.upload;
  const visit = { ...context, server, to: uploads.commit, writes: [path] };
  const { lock, world } = await lockWorld(deps, visit, "file-write");
  try {
    const started_by = auditActor(context).actor;
    const op = newOp(deps, { op: "upload", path, server, started_by, upload: id });
    const change = { action: "file.upload", path, payload: { overwrite } };
    const revision = await admitOp(deps, context, { op, change });
    deps.background.run("commit", () =>
      commitUpload(deps, { op, revision, lock, world }, { principal: context.principal, lease, overwrite }),
    );
    return op;
  } catch (error) {
    await lock.release();
    throw error;
  }
}

type CommitContext = { principal: Principal; lease: Lease; overwrite: boolean };

async function commitUpload(deps: UploadDeps, about: Launch, context: CommitContext): Promise<void> {
  const { op, lock, revision } = about;
  const { principal, lease, overwrite } = context;
  let isLaunched = false;
  try {
    const { token, hash } = newToken();
    const upload = await lease.finish((now) => ({ ...now, token: { hash, is_used: false } }));
    // The owner may have changed since the request was answered.
    const wanted = { to: uploads.commit, writes: [op.path] };
    assertMayAccess(principal, await describeWorld(deps, op.server), wanted);
    isLaunched = true;
    await launch(deps, about, commitTask(deps, upload, { overwrite, token }));
  } catch (error) {
    const message = `the upload could not be committed: ${(error as Error).message}`;
    const value = { ...op, preparing_at: 0 };
    const entry = { key: opKey(op), value, revision };
    const isOver = await recordFailedStart(deps, op, isLaunched ? error : new Error(message));
    if (isOver) await endOp(deps, entry, { kind: "broken", message }).catch(() => {});
    throw error;
  } finally {
    await lease[Symbol.asyncDispose]();
    await lock.release();
  }
}
