// Limits the sessions of an account.

import { Fault, uploads } from "@svc/proto";
import type { UploadDeps } from "./deps.ts";
import { assertCanFit } from "./reservation.ts";
import { type StoredUpload, ttlOf } from "./session.ts";

const tries = 20;

/** Throws when a file is too large for any session, or for the volume. */
export async function assertSizeAllowed(
  deps: Pick<UploadDeps, "settings" | "staging">,
  { size }: Pick<StoredUpload, "size">,
): Promise<void> {
  const most = deps.settings.storage.upload_parts * uploads.partBytes;
  if (size > most) throw new Fault("bad_request", { message: `An upload may have at most ${most} bytes.` });
  await assertCanFit(deps, size);
}

/** Records a session for its account; throws `too_many_uploads`. */
export async function addSession(
  deps: Pick<UploadDeps, "settings" | "uploads" | "uploaders">,
  upload: StoredUpload,
): Promise<void> {
  const { id, user_id } = upload;
  const { upload_sessions: most, upload_lease: leaseMs } = deps.settings.storage;
  const ttlMs = ttlOf(deps, upload);
  // It exists before it is counted: listed sessions that do not exist are over. Until then it has a short TTL, so that a
  // process that dies here leaves no session that nobody can use.
  const revision = (await deps.uploads.create(id, upload, { ttlMs: leaseMs })) ?? 0;
  try {
    for (let left = tries; left > 0; left--) {
      const listed = await deps.uploaders.get(user_id);
      const open = await filterOpen(deps, listed?.value.sessions ?? []);
      if (open.length >= most) throw new Fault("too_many_uploads");
      const value = { sessions: [...open, id] };
      const written = listed
        ? await deps.uploaders.update(user_id, value, listed.revision)
        : await deps.uploaders.create(user_id, value);
      if (written === undefined) continue;
      if ((await deps.uploads.update(id, upload, revision, { ttlMs })) === undefined) break;
      return;
    }
    throw new Fault("overloaded", { retryAfterSeconds: 1 });
  } catch (error) {
    await deps.uploads.delete(id).catch(() => {});
    throw error;
  }
}

async function filterOpen(deps: Pick<UploadDeps, "uploads">, ids: readonly string[]): Promise<string[]> {
  const entries = await Promise.all(ids.map((id) => deps.uploads.get(id)));
  return ids.filter((_, index) => entries[index] !== undefined);
}

/** Deletes a staged upload: its entry first, then its bytes. */
export async function deleteUpload(
  deps: Pick<UploadDeps, "uploads" | "staging">,
  id: string,
  revision?: number,
): Promise<boolean> {
  if (!(await deps.uploads.delete(id, revision))) return false;
  await deps.staging.remove(id);
  return true;
}
