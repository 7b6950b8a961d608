import type { Handler } from "@svc/mesh";
import { backups, histories, type InputOf, isFault } from "@svc/proto";
import { assertAccess } from "../access/assert.ts";
import { callerOf } from "../ownership/caller.ts";
import type { OwnershipStore } from "../ownership/store.ts";
import { findByUserName, type ServerDeps } from "../server/deps.ts";
import { type Grid, gridOf, meanOf, minuteMs, seriesOf } from "./step.ts";
import type { HistoryStore, PlatformStep, ServerStep, StartStep } from "./store.ts";

type HistoryDeps = ServerDeps & {
  history: HistoryStore;
  ownership: Pick<OwnershipStore, "claimedAt">;
  now: () => number;
};

/** A server that is woken and stopped without end has more; the newest are shown. */
const maxPhases = 1_000;
const mebibyte = 2 ** 20;

const largest =
  <Row>(pick: (row: Row) => number) =>
  (rows: readonly Row[]) =>
    rows.length === 0 ? undefined : Math.max(...rows.map(pick));

const playersOf = meanOf<ServerStep>({
  sum: (row) => row.players_sum,
  count: (row) => row.players_count,
  digits: 2,
});
const memoryOf = meanOf<ServerStep>({
  sum: (row) => row.memory_mib_sum * mebibyte,
  count: (row) => row.usage_count,
});
const cpuOf = meanOf<ServerStep>({ sum: (row) => row.cpu_milli_sum, count: (row) => row.usage_count });
const tpsOf = meanOf<ServerStep>({ sum: (row) => row.tps_sum, count: (row) => row.tps_count, digits: 2 });

export const readServer =
  (deps: HistoryDeps): Handler<typeof histories.readServer> =>
  async (context, { name, range }) => {
    await findByUserName(deps, name);
    const row = await deps.store.find(name);
    assertAccess(context, { name, row, to: histories.readServer });
    const { isStaff } = callerOf(context);
    const grid = gridOf(range, deps.now());
    // What was before the claim is somebody else's.
    const since = isStaff ? new Date(0) : await deps.ownership.claimedAt(name, row?.ownerId ?? "");
    const from = new Date(Math.max(grid.from, since?.getTime() ?? Number.POSITIVE_INFINITY));
    const known = since !== undefined;
    const [steps, phases, sizes] = await Promise.all([
      known ? deps.history.readServer(name, from) : [],
      known ? deps.history.readPhases({ name, from, limit: maxPhases }) : [],
      known ? readSizes(deps, context, { server: name, since: from.toISOString() }) : [],
    ]);
    const counted = steps.filter((step) => step.players_count > 0);
    return {
      ...headOf(range, grid),
      server: name,
      players: seriesOf(grid, steps, playersOf),
      players_max: seriesOf(
        grid,
        counted,
        largest((row) => row.players_max),
      ),
      memory_bytes: seriesOf(grid, steps, memoryOf),
      cpu_milli: seriesOf(grid, steps, cpuOf),
      tps: seriesOf(grid, steps, tpsOf),
      ...(sizes && { world_sizes: sizes }),
      phases: phases.map(({ at, phase }) => ({ at: later(at, since).toISOString(), phase })),
      starts: phases.flatMap(({ at, startSeconds }) =>
        startSeconds === undefined || at < from ? [] : [{ at: at.toISOString(), seconds: startSeconds }],
      ),
    };
  };

const later = (at: Date, since = at) => (at > since ? at : since);

/** Undefined while storage does not answer: what lifecycle knows itself is shown all the same. */
async function readSizes(
  { mesh }: Pick<HistoryDeps, "mesh">,
  context: Parameters<HistoryDeps["mesh"]["call"]>[2],
  about: InputOf<typeof backups.listWorldSizes>,
) {
  try {
    return (await mesh.call(backups.listWorldSizes, about, context)).sizes;
  } catch (error) {
    if (!(isFault(error) && error.fault === "unavailable")) throw error;
    return undefined;
  }
}

export const readPlatform =
  ({ history, now }: Pick<HistoryDeps, "history" | "now">): Handler<typeof histories.readPlatform> =>
  async (_context, { range }) => {
    const grid = gridOf(range, now());
    const from = new Date(grid.from);
    const [steps, starts] = await Promise.all([
      history.readPlatform(from),
      history.readStarts(from, grid.stepMs / minuteMs),
    ]);
    const count = (row: PlatformStep) => row.samples;
    const awake = meanOf<PlatformStep>({ sum: (row) => row.awake_sum, count, digits: 2 });
    const players = meanOf<PlatformStep>({ sum: (row) => row.players_sum, count, digits: 2 });
    const first = (pick: (row: StartStep) => number | null) => (rows: readonly StartStep[]) =>
      rows[0] && (pick(rows[0]) ?? undefined);
    const woken = seriesOf(
      grid,
      starts,
      first((row) => row.wakes),
    );
    const sampled = seriesOf(grid, steps, (rows) => rows.length || undefined);
    return {
      ...headOf(range, grid),
      awake: seriesOf(grid, steps, awake),
      players: seriesOf(grid, steps, players),
      players_max: seriesOf(
        grid,
        steps,
        largest((row) => row.players_max),
      ),
      // Nobody woke a server while we watched is 0; nobody watched is a gap.
      wakes: woken.map((wakes, index) => wakes ?? (sampled[index] === null ? null : 0)),
      start_p50_seconds: seriesOf(
        grid,
        starts,
        first((row) => row.p50),
      ),
      start_p95_seconds: seriesOf(
        grid,
        starts,
        first((row) => row.p95),
      ),
    };
  };

function headOf(range: histories.HistoryRange, { from, stepMs }: Grid) {
  return { range, from: new Date(from).toISOString(), step_seconds: stepMs / 1_000 };
}
