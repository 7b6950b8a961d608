// Space on the upload volume, reserved while parts arrive. All parts in transit are in one entry of a bucket, so checking and
// reserving is one step for all replicas; stored parts count by the free space of the volume, which is read afterwards.

import { randomBytes } from "node:crypto";
import { Fault } from "@svc/proto";
import type { IncomingPart, UploadDeps } from "./deps.ts";
import { receivedBytes } from "./session.ts";

const tries = 50;
const key = "all";
/** A slower body is aborted by its gateway. */
const slowestBytesPerSecond = 16 * 1_024;

type SpaceRequest = { user_id: string; bytes: number; now: number };
export type UploadSpace = {
  /** Size of the volume. */
  size: number;
  free: number;
  keepFree: number;
  /** Share of the volume that one account may use, staged and in transit. */
  share: number;
  /** Staged bytes of the account. */
  staged: number;
  coming: readonly IncomingPart[];
};

/** Throws `upload_staging_full` when the account's share or the volume has no space for the bytes. Pure. */
export function checkSpace(
  room: UploadSpace,
  { user_id, bytes }: Pick<SpaceRequest, "user_id" | "bytes">,
): void {
  const all = room.coming.reduce((sum, part) => sum + part.bytes, 0);
  const theirs = room.coming
    .filter((part) => part.user_id === user_id)
    .reduce((sum, part) => sum + part.bytes, 0);
  const most = Math.floor(room.size * room.share);
  if (room.staged + theirs + bytes > most) {
    const message = `Uploads of one account may use ${most} bytes at once; finish or cancel one first.`;
    throw new Fault("upload_staging_full", { message });
  }
  if (room.free - all - bytes < room.size * room.keepFree) throw new Fault("upload_staging_full");
}

/** Throws `upload_staging_full` for a file that could not be staged even alone; reserves nothing. */
export async function assertCanFit(
  deps: Pick<UploadDeps, "settings" | "staging">,
  size: number,
): Promise<void> {
  const { upload_account_share: share, staging_keep_free: keepFree } = deps.settings.storage;
  const volume = await deps.staging.volume();
  checkSpace({ ...volume, keepFree, share, staged: 0, coming: [] }, { user_id: "", bytes: size });
}

/**
 * Reserves space for bytes in transit until disposed of; the reservation of a dead process expires after the time of the
 * slowest body. Throws `upload_staging_full`.
 */
export async function reserveSpace(
  deps: Pick<UploadDeps, "settings" | "now" | "uploads" | "uploaders" | "coming" | "staging">,
  wanted: { user_id: string; bytes: number; holdMs?: number },
): Promise<AsyncDisposable> {
  const { user_id, bytes, holdMs = 0 } = wanted;
  const { upload_account_share: share, staging_keep_free: keepFree, upload_lease } = deps.settings.storage;
  const id = randomBytes(8).toString("hex");
  const lifeMs = upload_lease + holdMs + Math.ceil((bytes / slowestBytesPerSecond) * 1_000);
  await change(deps, async (coming) => {
    const [staged, volume] = await Promise.all([stagedBy(deps, user_id), deps.staging.volume()]);
    checkSpace({ ...volume, keepFree, share, staged, coming }, { user_id, bytes });
    return [...coming, { id, user_id, bytes, until: deps.now() + lifeMs }];
  });
  return {
    [Symbol.asyncDispose]: () =>
      change(deps, async (coming) => coming.filter((part) => part.id !== id)).catch(() => {}),
  };
}

async function stagedBy(deps: Pick<UploadDeps, "uploads" | "uploaders">, user_id: string): Promise<number> {
  const ids = (await deps.uploaders.get(user_id))?.value.sessions ?? [];
  const entries = await Promise.all(ids.map((id) => deps.uploads.get(id)));
  return entries.reduce((sum, entry) => sum + (entry ? receivedBytes(entry.value) : 0), 0);
}

async function change(
  deps: Pick<UploadDeps, "now" | "coming">,
  decide: (coming: readonly IncomingPart[]) => Promise<IncomingPart[]>,
): Promise<void> {
  for (let left = tries; left > 0; left--) {
    const entry = await deps.coming.get(key);
    const alive = (entry?.value.parts ?? []).filter(({ until }) => until > deps.now());
    const value = { parts: await decide(alive) };
    const written = entry
      ? await deps.coming.update(key, value, entry.revision)
      : await deps.coming.create(key, value);
    if (written !== undefined) return;
  }
  throw new Fault("overloaded", { retryAfterSeconds: 1 });
}
