// Which backups are deleted to make space for an archive (docs/reference/reaper.md#order). Pure.

/** A backup that may be deleted; `isLast` when it is the only copy of its world. */
export type Candidate = {
  id: string;
  reason: string;
  size_bytes: number;
  created_at: Date;
  /** Its off-site copy was seen lately. */
  hasCopy: boolean;
  pinned_at: Date | null;
  isInUse: boolean;
  isLast: boolean;
};

type EvictionPlan = { isEnough: boolean; evict: string[] };

/**
 * Owners' manual backups are evicted first, the oldest first; then archives of reclaimed worlds with a confirmed off-site
 * copy. The only copy of a world is never evicted, and nothing is evicted in vain. `max` 0 means no cap.
 */
export function planEviction(
  about: { used: number; need: number; max: number },
  candidates: readonly Candidate[],
): EvictionPlan {
  const { used, need, max } = about;
  if (max === 0 || used + need <= max) return { isEnough: true, evict: [] };
  const evict: string[] = [];
  let left = used;
  for (const candidate of inOrder(candidates)) {
    evict.push(candidate.id);
    left -= candidate.size_bytes;
    if (left + need <= max) return { isEnough: true, evict };
  }
  return { isEnough: false, evict: [] };
}

function inOrder(candidates: readonly Candidate[]): Candidate[] {
  const free = candidates
    .filter(({ isInUse, pinned_at }) => !isInUse && pinned_at === null)
    .toSorted((a, b) => a.created_at.getTime() - b.created_at.getTime());
  const manual = free.filter(({ reason, isLast }) => reason === "manual" && !isLast);
  const reclaimed = free.filter(
    ({ reason, hasCopy }) => (reason === "inactive_15d" || reason === "released") && hasCopy,
  );
  return [...manual, ...reclaimed];
}
