// The only rule by which objects are deleted from the bucket (docs/reference/off-site.md#deletion). It is pure; one caller
// acts on it.
//
// 1. Nothing is deleted where the database looks lost: it lists no archive that is kept, or its newest bundle has no server and at most
//    one account. Then the bucket may hold the only copy of everything.
// 2. A copy whose backup is present or expired stays.
// 3. A copy whose backup is deleted goes once its retention has passed too: an archive may be deleted early to make room.
// 4. A copy without a backup goes once it is older than the longest retention, by its name and by the bucket.
// 5. Of bundles the newest stay; one labelled `offsite` stays only while it is the newest. What is dated in the future
//    neither goes nor counts.
// 6. Of the lists of images, and of uploads, the newest stays, and each other one until it was replaced for as long as lists
//    are kept. What a list that stays names stays too; the rest goes once it is as old. Where a list cannot be read, this
//    pass could not tell what is here, or the newest list names nothing, nothing of the kind goes.
// 7. Of the log: deletion-wal.ts. Of packs: deletion-packs.ts; the manifest of an archive is a copy as a whole one is.
// 8. Every other object is somebody else's and stays.

import type { offsiteArchives } from "@svc/proto";
import { type PackFacts, type PackPlan, planPacks } from "./deletion-packs.ts";
import { surplusWal, type WalFacts } from "./deletion-wal.ts";
import {
  archiveOfKey,
  bundleOfKey,
  type IndexFolder,
  indexFolders,
  indexOfKey,
  manifestOfKey,
  partOfKey,
} from "./object-key.ts";

type Row = Pick<offsiteArchives.OffsiteArchive, "archive" | "status" | "expires_at">;

export type DeletionFacts = {
  now: number;
  objects: readonly { key: string; modifiedAt: Date | undefined }[];
  archives: readonly Row[];
  longestRetentionMs: number;
  /** Bundles to keep. */
  dbKeep: number;
  /** Counts of the newest local bundle; undefined when there is none. */
  newestBundle: { accounts: number; servers: number } | undefined;
  indexKeepMs: number;
  /** What each list that stays names, by the key of the list, where that is known. */
  named: Readonly<Partial<Record<IndexFolder, ReadonlyMap<string, ReadonlySet<string>>>>>;
  /** Of the log; undefined where it is not known, or not archived here. */
  wal: WalFacts | undefined;
  /** Of packs; undefined where it is not known what the manifests name. */
  packs: PackFacts | undefined;
};

type DeletionPlan =
  | { skipped: string }
  | {
      skipped?: undefined;
      keys: string[];
      /** The marks of packs after this pass; undefined where nothing is known of them. */
      retiredAt: PackPlan["retiredAt"] | undefined;
    };

export function decideDeletions(facts: DeletionFacts): DeletionPlan {
  const why = whySkipped(facts);
  if (why !== undefined) return { skipped: why };
  const rows = new Map(facts.archives.map((row) => [row.archive, row]));
  const copies = facts.objects.filter((object) => isCopyOver(object, rows, facts)).map(({ key }) => key);
  const parts = indexFolders.flatMap((folder) => surplusIndexed(facts, folder));
  const wal = surplusWal(facts.objects, facts.wal, facts.now);
  const { objects, now, indexKeepMs: keepMs } = facts;
  const packs = facts.packs && planPacks(objects, facts.packs, { now, keepMs });
  const keys = [...surplusBundles(facts), ...copies, ...parts, ...wal, ...(packs?.surplus ?? [])];
  return { keys, retiredAt: packs?.retiredAt };
}

function whySkipped({ archives, newestBundle }: DeletionFacts): string | undefined {
  if (archives.every(({ status }) => status === "deleted")) return "the database lists no archive";
  if (!newestBundle) return "there is no local bundle";
  if (newestBundle.servers === 0 && newestBundle.accounts <= 1) return "the database looks empty";
  return undefined;
}

function isCopyOver(
  { key, modifiedAt }: DeletionFacts["objects"][number],
  rows: ReadonlyMap<string, Row>,
  { now, longestRetentionMs }: DeletionFacts,
): boolean {
  const archive = archiveOfKey(key) ?? manifestOfKey(key);
  if (!archive) return false;
  const row = rows.get(archive.name);
  if (row) return row.status === "deleted" && Date.parse(row.expires_at) <= now;
  if (!modifiedAt) return false;
  const newest = Math.max(modifiedAt.getTime(), archive.begunAt.getTime());
  return newest + longestRetentionMs <= now;
}

function surplusBundles({ objects, now, dbKeep }: DeletionFacts): string[] {
  const newestFirst = objects
    .flatMap(({ key }) => {
      const bundle = bundleOfKey(key);
      return bundle && bundle.takenAt.getTime() <= now ? [{ key, ...bundle }] : [];
    })
    .sort((a, b) => b.takenAt.getTime() - a.takenAt.getTime() || (a.key < b.key ? -1 : 1));
  const [newest] = newestFirst;
  const kept = newestFirst.filter(({ label }) => label !== "offsite").slice(0, dbKeep);
  return newestFirst.filter((one) => one !== newest && !kept.includes(one)).map(({ key }) => key);
}

type IndexFacts = Pick<DeletionFacts, "objects" | "now" | "indexKeepMs">;

/** Lists of a folder, and which of them have been replaced for long enough. */
export function sortIndexes(
  { objects, now, indexKeepMs }: IndexFacts,
  folder: IndexFolder,
): { kept: string[]; surplus: string[] } {
  const newestFirst = objects
    .flatMap(({ key }) => {
      const index = indexOfKey(key);
      return index?.folder === folder ? [{ key, at: index.at.getTime() }] : [];
    })
    .sort((a, b) => b.at - a.at);
  const isSurplus = (_: unknown, place: number) => {
    // One of the future replaces nothing yet.
    const replacedAt = newestFirst[place - 1]?.at ?? now;
    return replacedAt + indexKeepMs <= now;
  };
  const surplus = newestFirst.filter(isSurplus).map(({ key }) => key);
  const kept = newestFirst.map(({ key }) => key).filter((key) => !surplus.includes(key));
  return { kept, surplus };
}

/** Parts that are old enough to go, if no list that stays names them. */
export function oldParts({ objects, now, indexKeepMs }: IndexFacts, folder: IndexFolder): string[] {
  return objects.flatMap(({ key, modifiedAt }) =>
    modifiedAt && modifiedAt.getTime() + indexKeepMs <= now && partOfKey(key)?.folder === folder ? [key] : [],
  );
}

function surplusIndexed(facts: DeletionFacts, folder: IndexFolder): string[] {
  const { kept, surplus } = sortIndexes(facts, folder);
  const sets = kept.map((key) => facts.named[folder]?.get(key));
  const [newest] = sets;
  if (!newest || newest.size === 0 || sets.includes(undefined)) return [];
  const isNamed = (key: string) => sets.some((set) => set?.has(key));
  // A killed process leaves parts that no list names, and the next pass deletes them.
  return [...surplus, ...oldParts(facts, folder).filter((key) => !isNamed(key))];
}
