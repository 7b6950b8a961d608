// What a prune deletes (docs/reference/registry.md#prune). A manifest stays while something keeps it; an image for
// several platforms keeps its parts, and a manifest keeps what refers to it as its subject.

import { buildJobs } from "@svc/proto";

/** A manifest of the registry. */
export type Stored = {
  repository: string;
  digest: string;
  tags: readonly string[];
  pushedAt: Date;
  /** Of its blobs. */
  bytes: number;
  /** Of an index: the digests of its parts, in the same repository. */
  parts: readonly string[];
  /** What it belongs to, as a signature or provenance does. */
  subject?: string | undefined;
};

/** Something that names images; `repository` alone means each of its manifests. */
export type Named = { repository: string; tag?: string | undefined; digest?: string | undefined };

const keeperReasons = ["whitelist", "server", "build", "platform"] as const;
type KeeperReason = (typeof keeperReasons)[number];
export type Keepers = Readonly<Record<KeeperReason, readonly Named[]>>;

type Reason = KeeperReason | "recent" | "newest" | "referenced" | "cache";

/** How much is kept for later builds (docs/reference/builds.md#cache). */
export type CacheBounds = { authorBytes: number; bytes: number; keepMs: number };

type PrunePlan = {
  /** By the first reason that applies. */
  kept: Partial<Record<Reason, number>>;
  /** What refers to others comes before them, so that a prune that is interrupted leaves nothing half there. */
  deleted: Stored[];
  /** Bytes of layers that stay for later builds. */
  cacheBytes: number;
};

const recentMs = 24 * 3_600_000;
const newestTagged = 5;
const reservedPrefixes = ["svc/", "mirror/"];

/** Each is read by every prune. */
const mostCached = 5_000;

/** Whether a repository holds layers for later builds. */
export const isCache = (repository: string): boolean => repository.startsWith(buildJobs.layerCachePrefix);

/** Whether a repository belongs to the platform itself. */
export const isReserved = (repository: string): boolean =>
  reservedPrefixes.some((prefix) => `${repository}/`.startsWith(prefix));

export function decidePrune(
  stored: readonly Stored[],
  { keepers, cache, now }: { keepers: Keepers; cache: CacheBounds; now: number },
): PrunePlan {
  const reasons = new Map<Stored, Reason>();
  const keep = (reason: Reason, which: (manifest: Stored) => boolean) => {
    for (const manifest of stored)
      if (!reasons.has(manifest) && which(manifest)) reasons.set(manifest, reason);
  };
  for (const reason of keeperReasons) {
    const isNamed = matcherOf(keepers[reason]);
    keep(reason, isNamed);
  }
  const cached = cachedWithin(stored, { cache, now });
  keep("cache", (manifest) => cached.has(manifest));
  // A cache is bounded, however much is pushed to it in a day.
  keep("recent", ({ pushedAt, repository }) => !isCache(repository) && now - pushedAt.getTime() < recentMs);
  const newest = newestOf(stored);
  keep("newest", (manifest) => newest.has(manifest));
  keepReferenced(stored, reasons);
  const kept: PrunePlan["kept"] = {};
  for (const reason of reasons.values()) kept[reason] = (kept[reason] ?? 0) + 1;
  const deleted = stored.filter((manifest) => !reasons.has(manifest));
  const cacheBytes = [...cached].reduce((sum, { bytes }) => sum + bytes, 0);
  return { kept, deleted: deleted.toSorted((a, b) => weight(b) - weight(a)), cacheBytes };
}

/** Layers that were used last, as far as the bounds of their author and of all authors go. */
function cachedWithin(
  stored: readonly Stored[],
  { cache, now }: { cache: CacheBounds; now: number },
): Set<Stored> {
  const entries = stored
    .filter(({ repository, pushedAt }) => isCache(repository) && now - pushedAt.getTime() < cache.keepMs)
    .toSorted((a, b) => b.pushedAt.getTime() - a.pushedAt.getTime());
  const kept = new Set<Stored>();
  const used = new Map<string, number>();
  let all = 0;
  for (const entry of entries) {
    const { repository, bytes } = entry;
    const own = (used.get(repository) ?? 0) + bytes;
    if (own > cache.authorBytes || all + bytes > cache.bytes || kept.size >= mostCached) continue;
    used.set(repository, own);
    all += bytes;
    kept.add(entry);
  }
  return kept;
}

function matcherOf(named: readonly Named[]): (manifest: Stored) => boolean {
  const keys = new Set(named.map(({ repository, tag, digest }) => keyOf(repository, digest ?? tag)));
  return ({ repository, digest, tags }) =>
    keys.has(keyOf(repository)) ||
    keys.has(keyOf(repository, digest)) ||
    tags.some((tag) => keys.has(keyOf(repository, tag)));
}

const keyOf = (repository: string, reference = "") => `${repository}@${reference}`;

/** The newest tagged manifests of each repository below a reserved prefix. */
function newestOf(stored: readonly Stored[]): Set<Stored> {
  const tagged = stored.filter(
    ({ repository, tags, subject }) => tags.length > 0 && subject === undefined && isReserved(repository),
  );
  const groups = [...Map.groupBy(tagged, ({ repository }) => repository).values()];
  return new Set(
    groups.flatMap((group) =>
      group.toSorted((a, b) => b.pushedAt.getTime() - a.pushedAt.getTime()).slice(0, newestTagged),
    ),
  );
}

function keepReferenced(stored: readonly Stored[], reasons: Map<Stored, Reason>): void {
  const find = new Map(stored.map((manifest) => [keyOf(manifest.repository, manifest.digest), manifest]));
  const referrers = Map.groupBy(
    stored.filter(({ subject }) => subject !== undefined),
    ({ repository, subject }) => keyOf(repository, subject),
  );
  const queue = [...reasons.keys()];
  for (let manifest = queue.pop(); manifest !== undefined; manifest = queue.pop()) {
    const { repository, digest, parts } = manifest;
    const related = [
      ...parts.flatMap((part) => find.get(keyOf(repository, part)) ?? []),
      ...(referrers.get(keyOf(repository, digest)) ?? []),
    ];
    for (const other of related) {
      if (reasons.has(other)) continue;
      reasons.set(other, "referenced");
      queue.push(other);
    }
  }
}

/** What refers to an image goes before its list, and both before the image. */
function weight({ parts, subject }: Stored): number {
  if (parts.length > 0) return 1;
  return subject === undefined ? 0 : 2;
}
