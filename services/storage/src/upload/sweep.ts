// Deletes staged files that belong to no upload: of aborted requests, dead processes, expired sessions. A young folder is
// kept, since its upload may not be in the bucket yet.

import type { UploadDeps } from "./deps.ts";
import { releaseExpiredWriter } from "./session.ts";

/** Deletes unknown uploads, and incomplete parts of known ones. Returns how many. */
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
