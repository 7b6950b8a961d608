// What becomes of a pack (docs/reference/backups.md#packs). Pure.
//
// No archive loses a chunk, whoever runs beside whom and wherever anybody is killed, because
// 1. a writer has its lease before it looks for known chunks, passes over retired packs, and publishes by giving the lease its
//    final name: without the lease it cannot;
// 2. the sweep reads marks first, then leases, then manifests, and a mark goes only with its pack.
// A pack that was retired before a sweep began can be published only by a writer whose lease is older than the mark. The sweep
// saw no lease, so all of these have ended, and it read every manifest after that: if none refers to the pack, none ever will.

export type PackFacts = {
  /** Somebody writes an archive of this server. */
  isWritten: boolean;
  /** A manifest of this server could not be read: what it refers to is not known. */
  isUnreadable: boolean;
  /** An archive of this server that is recorded is not here: it may come back and need any pack. */
  isMissing: boolean;
  isReferred: boolean;
  /** When it was retired, in milliseconds; undefined before. */
  retiredAt: number | undefined;
  now: number;
  graceMs: number;
};

export type PackVerdict = "keep" | "retire" | "delete";

type Rule = [applies: (facts: PackFacts) => boolean, verdict: PackVerdict];

const rules: readonly Rule[] = [
  [({ isWritten }) => isWritten, "keep"],
  [({ isUnreadable }) => isUnreadable, "keep"],
  [({ isMissing }) => isMissing, "keep"],
  [({ isReferred }) => isReferred, "keep"],
  [({ retiredAt }) => retiredAt === undefined, "retire"],
  // Also one that was retired in the future: a clock was set.
  [({ retiredAt = Number.NaN, now, graceMs }) => !(now - retiredAt > graceMs), "keep"],
];

/** Deletes only what no rule keeps. */
export function decidePack(facts: PackFacts): PackVerdict {
  return rules.find(([applies]) => applies(facts))?.[1] ?? "delete";
}
