import type { Handler } from "@svc/mesh";
import type { registries } from "@svc/proto";
import { isRegistryError, type Registry } from "@svc/registry";
import { sql } from "kysely";
import type { BuildsDb } from "../database.ts";
import { readInventory } from "./inventory.ts";
import { type CacheBounds, decidePrune, type Keepers, type Stored } from "./plan.ts";
import { findBuiltDigests } from "./sources.ts";

export type PruneDeps = {
  db: BuildsDb;
  /** With the right to delete; undefined without a registry. */
  registry: Registry | undefined;
  readKeepers: () => Promise<Keepers>;
  cache: CacheBounds;
  /** Called with the bytes of layers that a prune left for later builds. */
  onCached: (bytes: number) => void;
  now: () => number;
};

const longestReport = 500;
/** One prune at a time over all replicas. */
const lockKey = 0x7265_6770;

type Outcome = registries.PruneRun;

/** builds.registry.prune */
export function createPrune(deps: PruneDeps): Handler<typeof registries.pruneRegistry> {
  return async (context, { dry_run }) => {
    try {
      return await pruneRegistry(deps, { isDryRun: dry_run, signal: context.signal });
    } catch (error) {
      if (!isRegistryError(error) && !(error instanceof AnotherPruneRuns)) throw error;
      throw context.fault("registry_unavailable", { message: error.message, cause: error });
    }
  };
}

/** Reads everything first: what can't be read makes it throw before anything is deleted. */
export async function pruneRegistry(
  deps: PruneDeps,
  { isDryRun, signal }: { isDryRun: boolean; signal: AbortSignal },
): Promise<Outcome> {
  const { db, registry, readKeepers, cache, onCached, now } = deps;
  const startedAt = now();
  if (!registry) return report({ startedAt, endedAt: now(), isDryRun, manifests: 0, kept: {}, deleted: [] });
  return alone(db, async () => {
    const untagged = await findBuiltDigests(db, registry.host);
    // Keepers last: what was named while the registry was read is kept.
    const stored = await readInventory({ registry, untagged, signal });
    const plan = decidePrune(stored, { keepers: await readKeepers(), cache, now: startedAt });
    const deleted = isDryRun ? plan.deleted : await deleteAll(registry, plan.deleted, signal);
    if (!isDryRun) onCached(plan.cacheBytes);
    return report({
      startedAt,
      endedAt: now(),
      isDryRun,
      manifests: stored.length,
      kept: plan.kept,
      deleted,
    });
  });
}

/** A lock of the connection, not of a transaction: those may not be idle while the registry is read. */
function alone<T>(db: BuildsDb, work: () => Promise<T>): Promise<T> {
  return db.connection().execute(async (connection) => {
    const { rows } = await sql<{ got: boolean }>`select pg_try_advisory_lock(${lockKey}) as got`.execute(
      connection,
    );
    if (!rows[0]?.got) throw new AnotherPruneRuns();
    try {
      return await work();
    } finally {
      // A connection that was lost has given the lock back.
      await sql`select pg_advisory_unlock(${lockKey})`.execute(connection).catch(() => undefined);
    }
  });
}

class AnotherPruneRuns extends Error {
  override readonly name = "AnotherPruneRuns";
  override readonly message = "Another prune runs; try again when it has ended.";
}

/** Those that were deleted: what was pushed again meanwhile stays. */
async function deleteAll(
  registry: Registry,
  manifests: readonly Stored[],
  signal: AbortSignal,
): Promise<Stored[]> {
  const deleted: Stored[] = [];
  for (const manifest of manifests) {
    const { repository, digest, pushedAt } = manifest;
    const unchangedSince = { unmodifiedSince: pushedAt, signal };
    if (await registry.deleteManifest(repository, digest, unchangedSince)) deleted.push(manifest);
  }
  return deleted;
}

function report(about: {
  startedAt: number;
  endedAt: number;
  isDryRun: boolean;
  manifests: number;
  kept: Outcome["kept"];
  deleted: readonly Stored[];
}): Outcome {
  return {
    dry_run: about.isDryRun,
    started_at: new Date(about.startedAt).toISOString(),
    finished_at: new Date(about.endedAt).toISOString(),
    manifests: about.manifests,
    kept: about.kept,
    deleted: about.deleted.slice(0, longestReport).map(({ repository, digest, tags, pushedAt }) => ({
      ref: tags[0] === undefined ? `${repository}@${digest}` : `${repository}:${tags[0]}`,
      digest,
      pushed_at: pushedAt.toISOString(),
    })),
    deleted_count: about.deleted.length,
  };
}
