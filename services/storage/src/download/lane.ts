// The lane of everything that comes from outside: admitted and answered first, downloaded and checked on the upload volume
// without the lock of the world, then written by a Job under it.

import { setTimeout as delay } from "node:timers/promises";
import type { Context } from "@svc/mesh";
import { type AnyContract, faults, type files, isFault } from "@svc/proto";
import { mayAccess, type Wanted } from "../access.ts";
import type { Change } from "../file/change.ts";
import { admitOp, launch, recordFailedStart } from "../file/launch.ts";
import { failOp, newOp, opKey, toFileOp } from "../file/op.ts";
import { lockWorld } from "../file/open-world.ts";
import type { JobSecret } from "../job/spec.ts";
import { newToken } from "../one-time-token.ts";
import type { Sources } from "../source/address.ts";
import { DownloadError } from "../source/failure.ts";
import type { UploadDeps } from "../upload/deps.ts";
import { addSession, deleteUpload } from "../upload/quota.ts";
import { newUploadId, type StoredUpload } from "../upload/session.ts";
import { keepPreparing, type Preparing } from "./preparing.ts";
import { type Source, stageFiles } from "./stage.ts";

const lockPauseMs = 1_000;

type Job = { task: Parameters<typeof launch>[2]["task"]; secret: JobSecret };

type Download = {
  context: Pick<Context<AnyContract>, "principal" | "client" | "requestId">;
  server: string;
  user_id: string;
  op: Pick<files.StoredFileOp, "op" | "path" | "started_by" | "from">;
  change: Change;
  wanted: Wanted;
  sources: Sources;
  files: readonly Source[];
  /** What the Job does with the staged files. */
  jobOf: (upload: StoredUpload, token: string) => Job;
};

/** Answers with the operation and goes on in the background. Throws `too_many_uploads`. */
export async function startDownload(deps: UploadDeps, download: Download): Promise<files.FileOp> {
  const { context, server, user_id } = download;
  const id = newUploadId();
  const op = newOp(deps, { ...download.op, server, upload: id });
  const upload: StoredUpload = {
    ...{ id, kind: "session", is_fetched: true, server, user_id, path: op.path, size: 0, parts: [] },
  };
  await addSession(deps, upload);
  const admitted = await admitOp(deps, context, { op, change: download.change }).catch(
    async (error: unknown) => {
      await deleteUpload(deps, id).catch(() => {});
      throw error;
    },
  );
  deps.background.run("download", (signal) => run(deps, { download, op, upload, admitted, signal }));
  return toFileOp(op);
}

type Running = {
  download: Download;
  op: files.StoredFileOp;
  upload: StoredUpload;
  admitted: number;
  signal: AbortSignal;
};

async function run(deps: UploadDeps, running: Running): Promise<void> {
  const { op, upload, admitted } = running;
  await using preparing = keepPreparing(deps, op, admitted);
  let isLaunched = false;
  try {
    const { token, hash } = newToken();
    const staged = await stage(deps, running, { preparing, hash });
    const { download } = running;
    const visit = { ...download.context, server: download.server, ...download.wanted };
    const { lock, world } = await lockSoon(deps, visit, preparing.signal);
    try {
      const revision = await preparing.finish();
      isLaunched = true;
      const { value } = preparing.current();
      await launch(deps, { op: value, revision, lock, world }, download.jobOf(staged, token));
    } finally {
      await lock.release();
    }
  } catch (error) {
    // A Job that may exist needs what is staged; its end is found by the reconcile of operations.
    const isOver = await recordFailedStart(deps, op, isLaunched ? error : new Error(messageOf(error)));
    if (!isOver) return;
    await deleteUpload(deps, upload.id).catch(() => {});
    const { value, revision } = preparing.current();
    await failOp(deps, { key: opKey(op), value, revision }, opErrorOf(error)).catch(() => {});
  }
}

/** What works on the world, such as another fetch, is waited for as long as a caller would wait. */
async function lockSoon(
  deps: UploadDeps,
  visit: Parameters<typeof lockWorld>[1],
  signal: AbortSignal,
): ReturnType<typeof lockWorld> {
  const endAt = performance.now() + deps.settings.storage.file_wait;
  for (;;) {
    try {
      return await lockWorld(deps, visit, "file-write");
    } catch (error) {
      const isHeld = isFault(error) && error.fault === "maintenance_in_progress";
      if (!isHeld || performance.now() + lockPauseMs > endAt) throw error;
    }
    await delay(lockPauseMs, undefined, { signal });
  }
}

async function stage(
  deps: UploadDeps,
  { download, upload, signal }: Running,
  { preparing, hash }: { preparing: Preparing; hash: string },
): Promise<StoredUpload> {
  const { context, server, wanted, sources, files } = download;
  using rights = deps.rights.watch(server, (world) => mayAccess(context.principal, world, wanted));
  const { fetch_deadline: deadlineMs } = deps.settings.storage;
  const late = AbortSignal.timeout(deadlineMs);
  const stop = AbortSignal.any([signal, rights.signal, preparing.signal, late]);
  try {
    return await stageFiles(
      deps,
      { upload, files },
      { sources, signal: stop, progress: preparing.progress, tokenHash: hash },
    );
  } catch (error) {
    if (late.aborted)
      throw new DownloadError("download_failed", `The download took longer than ${deadlineMs / 60_000} min.`);
    if (signal.aborted)
      throw new DownloadError("download_failed", "The service was restarted meanwhile; try again.");
    throw error;
  }
}

function messageOf(error: unknown): string {
  return error instanceof DownloadError || isFault(error)
    ? error.message
    : "the files could not be downloaded";
}

function opErrorOf(error: unknown): files.FileOpError {
  const message = messageOf(error).slice(0, 2_000);
  if (error instanceof DownloadError) return { code: error.code, message };
  return { code: isFault(error) ? faults[error.fault].code : "job_failed", message };
}
