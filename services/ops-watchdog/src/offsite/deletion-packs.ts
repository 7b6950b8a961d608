// Which packs are deleted: a part of the only rule (deletion.ts). It is pure.
//
// | a pack of the bucket                                                                     |         |
// |------------------------------------------------------------------------------------------|---------|
// | while it is not known what the manifests of the bucket name, or one of them cannot be read | stays, marked or not as before |
// | of a server of which a present or expired backup is neither here nor whole in the bucket  | stays, marked or not as before: its manifest may be brought back |
// | that a manifest of the bucket names, also one that is deleted now                          | stays, unmarked |
// | that nothing names and that has no mark                                                    | stays and gets its mark |
// | that was marked, or stored, less than `keepMs` ago, or nobody knows when                   | stays, marked |
// | that was marked and stored that long ago                                                   | goes    |
//
// The two phases are for a store whose list leaves an object out, and for copies that end between a pack and their manifest: a pass
// that sees a manifest takes the marks of its packs away. What lies here decides nothing: an archive may be gone here and kept there.

import { manifestOfKey, packOfKey } from "./object-key.ts";

export type PackFacts = {
  /** What each manifest of the bucket names, by the key of the manifest, where it can be read. */
  named: ReadonlyMap<string, { packs: readonly { name: string }[] }>;
  /** The marks: since when nothing names a pack, in unix ms, by its name. */
  retiredAt: ReadonlyMap<string, number>;
  /** Servers of which a present or expired backup is neither here nor whole in the bucket. */
  missing: ReadonlySet<string>;
};

type Verdict = "keep" | "unmark" | "mark" | "delete";
type Objects = readonly { key: string; modifiedAt: Date | undefined }[];

/** Keys of packs that go, and the marks that hold after this pass. */
export type PackPlan = { surplus: string[]; retiredAt: ReadonlyMap<string, number> };

export function planPacks(
  objects: Objects,
  packs: PackFacts,
  { now, keepMs }: { now: number; keepMs: number },
): PackPlan {
  const isUnreadable = objects.some(({ key }) => manifestOfKey(key) !== undefined && !packs.named.has(key));
  const named = new Set<string>();
  for (const manifest of packs.named.values()) for (const { name } of manifest.packs) named.add(name);
  const plan = { surplus: [] as string[], retiredAt: new Map<string, number>() };
  for (const { key, modifiedAt } of objects) {
    const { name, server } = packOfKey(key) ?? {};
    if (name === undefined || server === undefined) continue;
    const markedAt = packs.retiredAt.get(name);
    const verdict = decidePack({
      isHeld: isUnreadable || packs.missing.has(server),
      isNamed: named.has(name),
      markedAt,
      storedAt: modifiedAt?.getTime(),
      ...{ now, keepMs },
    });
    if (verdict === "delete") plan.surplus.push(key);
    // One that is to go keeps its mark: where it could not be deleted, the next pass does.
    const mark = verdict === "mark" ? now : verdict === "unmark" ? undefined : markedAt;
    if (mark !== undefined) plan.retiredAt.set(name, mark);
  }
  return plan;
}

type PackState = {
  isHeld: boolean;
  isNamed: boolean;
  markedAt: number | undefined;
  storedAt: number | undefined;
  now: number;
  keepMs: number;
};

function decidePack({ isHeld, isNamed, markedAt, storedAt, now, keepMs }: PackState): Verdict {
  if (isNamed) return "unmark";
  if (isHeld) return "keep";
  if (markedAt === undefined) return "mark";
  if (storedAt === undefined) return "keep";
  // Also what is dated in the future: a clock was set.
  return Math.max(markedAt, storedAt) + keepMs <= now ? "delete" : "keep";
}
