// A database that is fetched from the bucket should know of the copies beside it: a bundle follows the last one recorded.

import { listBundles } from "../bundle/folder.ts";
import { bundleOfKey, keyOfBundle } from "./object-key.ts";
import type { Pass } from "./pass-context.ts";
import { sendBundle } from "./send-bundles.ts";

/** `recordedAt` is when the newest copy of an archive was recorded. */
export async function sendSnapshot(pass: Pass, recordedAt: number): Promise<void> {
  if (!isSnapshotDue(recordedAt, pass.listing.keys())) return;
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
function isSnapshotDue(recordedAt: number, keys: Iterable<string>): boolean {
  let takenAt = 0;
  for (const key of keys) takenAt = Math.max(takenAt, bundleOfKey(key)?.takenAt.getTime() ?? 0);
  return Math.floor(recordedAt / 1_000) > Math.floor(takenAt / 1_000);
}
