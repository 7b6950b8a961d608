// Staged files that no upload names any more: of requests that were cut, of processes that died, of sessions that ended
// by their age. A folder is young while its upload may still be on its way into the bucket.

import type { UploadDeps } from "./deps.ts";
import { releaseExpiredWriter } from "./session.ts";

/** Removes what nothing stands for: whole uploads, and half parts of those that go on. Returns how much. */
async function sweepStaging(
  deps: Pick<UploadDeps, "settings" | "now" | "transferMetrics" | "uploads" | "staging">,
): Promise<number> {
  deps.transferMetrics.uploadsOpen((await deps.uploads.keys()).length);
  const before = Date.now() - deps.settings.storage.upload_sweep;
  let swept = 0;
  for (const id of await deps.staging.idleSince(before)) {
    const entry = await deps.uploads.get(id);
    if (entry) {
      const upload = await releaseExpiredWriter(deps, entry);
      if (upload) swept += await deps.staging.prune(id, upload.parts, before);
    } else {
      await deps.staging.remove(id);
      swept += 1;
    }
  }
  return swept;
}

export function keepStagingSwept(
  deps: Pick<UploadDeps, "settings" | "now" | "background" | "transferMetrics" | "uploads" | "staging">,
): void {
  const { staging_path, upload_sweep } = deps.settings.storage;
  if (staging_path === "") return;
  deps.background.every("staging sweep", upload_sweep, () => sweepStaging(deps));
}
