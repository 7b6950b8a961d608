// Staged files that no upload names any more: of requests that were cut, of processes that died, of sessions that ended
// by their age. A folder is young while its upload may still be on its way into the bucket.

import type { TransferDeps } from "../file/deps.ts";

/** Removes what nothing stands for; returns how much. */
export async function sweepStaging(deps: TransferDeps): Promise<number> {
  const known = new Set(await deps.uploads.keys());
  deps.transferMetrics.uploadsOpen(known.size);
  const { upload_sweep } = deps.settings.storage;
  let swept = 0;
  for (const id of await deps.staging.idleSince(Date.now() - upload_sweep)) {
    // Asked again: it may have come since the keys were read.
    if (known.has(id) || (await deps.uploads.get(id))) continue;
    await deps.staging.remove(id);
    swept += 1;
  }
  return swept;
}

export function keepStagingSwept(deps: TransferDeps): void {
  const { staging_path, upload_sweep } = deps.settings.storage;
  if (staging_path === "") return;
  deps.background.every("staging sweep", upload_sweep, () => sweepStaging(deps));
}
