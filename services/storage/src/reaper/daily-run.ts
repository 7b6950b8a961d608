// One daily run: worlds first, then the archives (docs/reference/reaper.md#order).

import { worlds } from "@svc/proto";
import { decideWorld, type WorldServer } from "./decide.ts";
import { reapWorld } from "./reap-world.ts";
import { releaseServer } from "./release.ts";
import { expireArchives, readArchives, sweepFolder } from "./retention.ts";
import { count, countAndNote, type Run } from "./run.ts";
import { readClock } from "./store.ts";
import { sweepChunks } from "./sweep-chunks.ts";
import { findClaimsOf } from "./volume.ts";
import { warnOwner } from "./warn.ts";

export async function runOnce(run: Run, about: { retentionOnly: boolean }): Promise<void> {
  await assertClock(run);
  if (!about.retentionOnly) await reapWorlds(run);
  await expireArchives(run);
  await readArchives(run);
  await sweepFolder(run);
  await sweepChunks(run);
}

/** A clock that jumped would expire every archive and every world at once. */
async function assertClock({ deps }: Run): Promise<void> {
  const apartMs = Math.abs(deps.now() - (await readClock(deps.db)).getTime());
  if (apartMs <= deps.settings.storage.reaper_clock_apart) return;
  const seconds = Math.round(apartMs / 1_000);
  throw new Error(`the clocks of this machine and the database differ by ${seconds} s; synchronize them`);
}

async function reapWorlds(run: Run): Promise<void> {
  const all = await listWorlds(run);
  run.live = new Map(all.filter(({ exists }) => exists).map(({ name, owner_id }) => [name, owner_id]));
  const left = all.values();
  const work = async () => {
    for (const world of left) {
      run.signal.throwIfAborted();
      count(run, "evaluated");
      await checkWorld(run, world).catch((error: Error) => {
        run.signal.throwIfAborted();
        countAndNote(run, "skipped", `${world.name} stays: ${error.message}`);
      });
    }
  };
  // All of them end before the run does, also when it is aborted.
  const ends = await Promise.allSettled(Array.from({ length: worldsAtOnce(run) }, work));
  const failed = ends.find((end) => end.status === "rejected");
  if (failed) throw failed.reason;
}

/** One at a time under a cap: evictions must see the space that the previous world took. */
function worldsAtOnce({ deps }: Run): number {
  const { archive, storage } = deps.settings;
  return archive.max_local_bytes > 0 ? 1 : storage.reaper_at_once;
}

async function checkWorld(run: Run, world: WorldServer): Promise<void> {
  const { warnBefore, deps } = run;
  const plan = decideWorld(world, { now: deps.now(), warnBefore });
  if (plan.kind === "warn") return warnOwner(run, world, plan);
  if (plan.kind === "orphan") return checkOrphan(run, world);
  if (plan.kind === "reap") return reapWorld(run, world.name);
}

/** A deletion whose object is gone: without a volume only the row is left; with one an operator has to check. */
async function checkOrphan(run: Run, world: WorldServer): Promise<void> {
  const { name } = world;
  const left = await findClaimsOf(run.deps, world);
  if (left.length > 0)
    return countAndNote(run, "skipped", `${name} is gone but its volume ${left.join(", ")} still exists`);
  await releaseServer(
    run,
    { world, plan: { kind: "reap", outcome: "deleted", reason: "released" } },
    undefined,
  );
}

async function listWorlds({ deps, signal }: Run): Promise<WorldServer[]> {
  const all: WorldServer[] = [];
  let cursor: string | undefined;
  do {
    const page = await deps.mesh.call(worlds.listWorlds, cursor === undefined ? {} : { cursor }, { signal });
    all.push(...page.items);
    cursor = page.next;
  } while (cursor !== undefined);
  return all;
}
