// A database that is fetched from the bucket should know of the copies beside it: a bundle follows the last one recorded.

import { listBundles } from "../bundle/folder.ts";
import { bundleOfKey, keyOfBundle } from "./object-key.ts";
import type { Pass } from "./pass-context.ts";
import type { Archive } from "./plan-archives.ts";
import { sendBundle } from "./send-bundles.ts";

export async function sendSnapshot(pass: Pass, archives: readonly Archive[]): Promise<void> {
  if (!isSnapshotDue(archives, pass.listing.all())) return;
  pass.step("snapshot");
  await pass.attempt("a bundle with the times of the copies", async () => {
    await pass.takeBundle();
  });
  const newest = (await listBundles(pass.bundleDir)).find(({ problem }) => problem === undefined);
  if (!newest || pass.listing.find(keyOfBundle(newest.name))) return;
  pass.progress.expect("db", [newest.sizeBytes]);
  await sendBundle(pass, newest);
}

/** Whether a copy was recorded after the newest bundle of the bucket was taken; names of bundles tell seconds. */
function isSnapshotDue(
  archives: readonly Pick<Archive, "offsite_at">[],
  objects: readonly { key: string }[],
): boolean {
  const recorded = Math.max(0, ...archives.map(({ offsite_at }) => Date.parse(offsite_at ?? "1970-01-01")));
  const taken = Math.max(0, ...objects.map(({ key }) => bundleOfKey(key)?.takenAt.getTime() ?? 0));
  return Math.floor(recorded / 1_000) > Math.floor(taken / 1_000);
}
