// Deletes what the rule names and nothing else.

import { listBundles } from "../bundle/folder.ts";
import { decideDeletions } from "./deletion.ts";
import { archiveOfKey } from "./object-key.ts";
import type { Pass } from "./pass-context.ts";
import type { Archive } from "./plan-archives.ts";

type Known = { archives: readonly Archive[]; longestRetentionMs: number };

export async function deleteObjects(pass: Pass, { archives, longestRetentionMs }: Known): Promise<void> {
  const { bucket, claim, listing, report, settings, bundleDir, signal, step } = pass;
  const newest = (await listBundles(bundleDir)).find(({ problem }) => problem === undefined);
  const plan = decideDeletions({
    now: pass.now(),
    objects: listing.all(),
    archives,
    longestRetentionMs,
    dbKeep: settings.db_keep,
    newestBundle: newest?.manifest?.counts,
  });
  if (plan.skipped !== undefined || plan.keys.length === 0) return;
  const rows = new Map(archives.map((archive) => [archive.archive, archive]));
  for (const key of plan.keys) {
    await pass.attempt(key, async () => {
      await claim.assertHeld();
      step("delete");
      await bucket.delete(key, { signal });
      listing.removed(key);
      report.deleted += 1;
      const row = rows.get(archiveOfKey(key)?.name ?? "");
      step("deleted");
      if (row?.offsite_at !== undefined)
        await pass.archives.record([{ id: row.id, sha256: row.sha256, at: null }]);
    });
  }
}
