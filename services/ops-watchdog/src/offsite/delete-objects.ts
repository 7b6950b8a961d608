// Deletes what the rule names and nothing else.

import { isObjectStoreError } from "@svc/object-store";
import { listBundles } from "../bundle/folder.ts";
import { decideDeletions, oldParts, sortIndexes } from "./deletion.ts";
import type { PackFacts } from "./deletion-packs.ts";
import { partsOf, readIndex } from "./indexes.ts";
import { archiveOfKey, type IndexFolder, keyOfArchive, manifestOfKey } from "./object-key.ts";
import type { Pass } from "./pass-context.ts";
import type { Archive } from "./plan-archives.ts";
import { copyStateIn } from "./send-archives.ts";
import type { Indexed } from "./send-indexed.ts";
import { readWalFacts } from "./wal-facts.ts";

type Known = { archives: readonly Archive[]; longestRetentionMs: number; indexed: Indexed };

export async function deleteObjects(
  pass: Pass,
  { archives, longestRetentionMs, indexed }: Known,
): Promise<void> {
  const { listing, settings, bundleDir } = pass;
  const newest = (await listBundles(bundleDir)).find(({ problem }) => problem === undefined);
  const facts = { now: pass.now(), objects: listing.all(), indexKeepMs: settings.index_keep };
  const plan = decideDeletions({
    ...facts,
    archives,
    longestRetentionMs,
    dbKeep: settings.db_keep,
    newestBundle: newest?.manifest?.counts,
    named: {
      registry: await readNamed(pass, facts, indexed.registry && "registry"),
      uploads: await readNamed(pass, facts, indexed.uploads && "uploads"),
    },
    wal: await readWalFacts(pass),
    packs: packFactsOf(pass, archives),
  });
  if (plan.skipped !== undefined) return;
  await deleteKeys(pass, plan.keys, archives);
  pass.packed.retiredAt = plan.retiredAt ?? pass.packed.retiredAt;
}

async function deleteKeys(pass: Pass, keys: readonly string[], archives: readonly Archive[]): Promise<void> {
  const { bucket, claim, listing, report, signal, step } = pass;
  const rows = new Map(archives.map((archive) => [archive.archive, archive]));
  for (const key of keys) {
    await pass.attempt(key, async () => {
      await claim.assertHeld();
      step("delete");
      await bucket.delete(key, { signal });
      listing.removed(key);
      report.deleted += 1;
      const row = rows.get((archiveOfKey(key) ?? manifestOfKey(key))?.name ?? "");
      step("deleted");
      if (row?.offsite_at !== undefined)
        await pass.archives.record([{ id: row.id, sha256: row.sha256, at: null }]);
    });
  }
}

/** A backup that is nowhere whole may be brought back with its manifest, and then needs the packs of its server. */
function packFactsOf(pass: Pass, archives: readonly Archive[]): PackFacts {
  const { copies, retiredAt } = pass.packed;
  const stateOf = copyStateIn(pass);
  const missing = new Set<string>();
  for (const archive of archives) {
    if (archive.status === "deleted" || (archive.local === "whole" && !archive.is_corrupt)) continue;
    const server = archiveOfKey(keyOfArchive(archive.archive))?.server;
    if (server !== undefined && stateOf(archive) !== "whole") missing.add(server);
  }
  return { named: copies, retiredAt, missing };
}

type IndexFacts = Parameters<typeof sortIndexes>[0];

/** What the lists that stay name; reads them only where something may go. Without a folder nothing is known of it. */
async function readNamed(
  pass: Pass,
  facts: IndexFacts,
  folder: IndexFolder | undefined,
): Promise<Map<string, ReadonlySet<string>>> {
  const named = new Map<string, ReadonlySet<string>>();
  if (folder === undefined) return named;
  const { kept, surplus } = sortIndexes(facts, folder);
  // One that cannot be opened is not in the map; then nothing goes.
  const read = (key: string) =>
    pass.attempt(key, async () => {
      const entries = await readIndex(pass, folder, key).catch(onlyUnreadable);
      if (entries) named.set(key, new Set(partsOf(folder, entries).map((part) => part.key)));
    });
  const [newest, ...older] = kept;
  const old = oldParts(facts, folder);
  if (newest === undefined || (surplus.length === 0 && old.length === 0)) return named;
  await read(newest);
  const isNamed = (key: string) => named.get(newest)?.has(key);
  if (surplus.length === 0 && old.every(isNamed)) return named;
  for (const key of older) await read(key);
  return named;
}

function onlyUnreadable(error: unknown): undefined {
  if (isObjectStoreError(error)) throw error;
}
