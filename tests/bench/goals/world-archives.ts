// G15, G16, G20: a world packed, unpacked and extracted from a zip, against the tools of the machine on the
// same files. Ours are the functions of libs/world that the agent calls. Unfair would be: a backup without its digest, a
// restore that trusts the archive; so ours do all of that, and the whole backup with its read-back is measured beside.
// Caches are warm for all alike. Restore and extraction of ours are on the disk before they change over; the tools leave
// that to whoever comes after. So the goal of a restore is held against the tool and a sync, which ends with as much
// (ADR 0012); the tool alone stands beside it without a goal.
// Every mode runs in a process of its own, and what that grew by at its peak is told at the end.

import { join } from "node:path";
import type { Bench, Goal } from "../harness/bench.ts";
import { startByteSink } from "../harness/byte-sink.ts";
import type { Row } from "../harness/report.ts";
import { interleaveSamples, pairedRates } from "../harness/statistics.ts";
import { startWorldArena, type WorldArena } from "../harness/synthetic-world.ts";

type Timed = { seconds: number; heapMb: number };

/** The machine's memory is quick at one time and slow at another, and all of these fill gigabytes of it. */
const roundsOf = ({ options: { rounds, isQuick } }: Bench) => (isQuick ? rounds : Math.max(7, rounds));

async function packing(bench: Bench, world: WorldArena): Promise<{ rows: Row[]; sha256: string }> {
  let heapMb = 0;
  let sha256 = "";
  const found = await interleaveSamples(roundsOf(bench), {
    ours: () => world.ours<Timed>("write"),
    whole: async () => {
      const { seconds, ...rest } = await world.ours<Timed & { sha256: string }>("keep");
      heapMb = Math.max(heapMb, rest.heapMb);
      sha256 = rest.sha256;
      return { seconds };
    },
    spawned: () => world.piped("tar -c world | zstd -3 -T2 -q", "spawned.tar.zst"),
    bare: () => world.shell("tar -c world | zstd -3 -T2 -q -o bare.tar.zst", "bare.tar.zst"),
  });
  const row = { goal: "G15", unit: "MB/s" };
  const rates = (ours: Seconds[], anchor: Seconds[]) => pairedRates(world.megabytes, { ours, anchor });
  const rows: Row[] = [
    {
      ...row,
      ...rates(found.ours, found.spawned),
      what: "backup with sha256",
      anchorName: "node spawns tar | zstd",
      limit: { bound: "at least", of: "ratio", goal: 0.9 },
    },
    {
      ...row,
      ...rates(found.ours, found.bare),
      what: "backup with sha256",
      anchorName: "tar | zstd -3 -T2",
      limit: { bound: "at least", of: "ratio", goal: 0.6, stretch: 0.75 },
    },
    {
      goal: "G15",
      what: "heap while a backup is written",
      unit: "MB",
      ours: heapMb,
      limit: { bound: "at most", of: "figure", goal: 100 },
    },
    { ...row, what: "backup, synced and read back whole", ours: rates(found.whole, found.bare).ours },
  ];
  return { rows, sha256 };
}

async function unpacking(
  bench: Bench,
  { world, sha256 }: { world: WorldArena; sha256: string },
): Promise<Row[]> {
  const tool = "mkdir bare && zstd -d -q -c bare.tar.zst | tar -x -C bare";
  const found = await interleaveSamples(roundsOf(bench), {
    ours: () => world.ours<Timed>("restore", { sha256 }),
    over: () => world.ours<Timed>("restoreOver", { sha256 }),
    bare: () => world.shell(tool, "bare"),
    synced: () => world.shell(`${tool} && sync -f bare`, "bare"),
  });
  const limit = { bound: "at least", of: "ratio", goal: 0.8, stretch: 0.95 } as const;
  return [
    ...againstBoth(found, {
      world,
      goal: "G16",
      what: "restore, verified before",
      tool: "zstd -d | tar x",
      limit,
    }),
    {
      goal: "G16",
      what: "restore over a world that changed in one file",
      unit: "MB/s",
      ours: pairedRates(world.megabytes, { ours: found.over, anchor: found.bare }).ours,
    },
    {
      goal: "G16",
      what: "read of a backup for one file of 1 MB",
      unit: "%",
      ours: (await world.ours<Timed & { percent: number }>("pick")).percent,
      // A tenth of the world has a tenth of the frames.
      ...(!bench.options.isQuick && { limit: { bound: "at most", of: "figure", goal: 5 } }),
    },
  ];
}

type Seconds = { seconds: number };
type Found = Record<"ours" | "bare" | "synced", Seconds[]>;
type Against = {
  world: WorldArena;
  goal: string;
  what: string;
  tool: string;
  limit: NonNullable<Row["limit"]>;
};

/** One row against the tool alone, and the one with the goal against it and a sync: ours end on the disk. */
function againstBoth(found: Found, { world, tool, limit, ...row }: Against): Row[] {
  const rates = (anchor: Seconds[]) => pairedRates(world.megabytes, { ours: found.ours, anchor });
  return [
    { ...row, unit: "MB/s", ...rates(found.bare), anchorName: tool },
    {
      ...row,
      what: `${row.what}, both on the disk`,
      unit: "MB/s",
      ...rates(found.synced),
      anchorName: `${tool}, sync`,
      limit,
    },
  ];
}

async function extracting(bench: Bench, world: WorldArena): Promise<Row[]> {
  await world.shell("rm -f world.zip && zip -q -1 -r world.zip world");
  const found = await interleaveSamples(roundsOf(bench), {
    ours: () => world.ours<Timed>("extract"),
    unzip: () => world.shell("mkdir peer && unzip -q world.zip -d peer", "peer"),
    yauzl: () => world.bare<Timed>("anchors/unzip.ts", "extract"),
  });
  const row = { goal: "G20", unit: "MB/s" };
  const rates = (anchor: Seconds[]) => pairedRates(world.megabytes, { ours: found.ours, anchor });
  const what = "zip extraction with all checks, synced";
  return [
    {
      ...row,
      what,
      ...rates(found.unzip),
      anchorName: "unzip",
      limit: { bound: "at least", of: "ratio", goal: 0.6, stretch: 1 },
    },
    {
      ...row,
      what,
      ...rates(found.yauzl),
      anchorName: "yauzl alone",
      limit: { bound: "at least", of: "ratio", goal: 0.8 },
    },
  ];
}

const received: Record<string, string> = {
  keep: "backup",
  restore: "restore",
  send: "export",
  land: "upload",
  extract: "extraction",
};

/** The last two modes, which have no goal of their own, and what each process grew by. */
async function growing(world: WorldArena): Promise<Row[]> {
  const face = await startByteSink(join(world.base, "store", "bench-1.tar.zst"));
  try {
    await world.ours("send", { url: face.url });
    await world.ours("land", { url: face.url, size: face.size, sha256: face.sha256 });
  } finally {
    await face.stop();
  }
  const growth = await world.growth();
  return Object.entries(received).map(([mode, name]) => ({
    goal: "MEM",
    what: `growth of the process of one ${name}, at its peak`,
    unit: "MB",
    ours: growth[mode] ?? Number.NaN,
    limit: { bound: "at most", of: "figure", goal: 150 },
  }));
}

export const worldArchives: Goal = {
  name: "G15",
  covers: ["G16", "G20", "MEM"],
  title: "worlds packed, unpacked and extracted",
  run: async (bench) => {
    const world = await startWorldArena(bench);
    try {
      const { rows, sha256 } = await packing(bench, world);
      return [
        ...rows,
        ...(await unpacking(bench, { world, sha256 })),
        ...(await extracting(bench, world)),
        ...(await growing(world)),
      ];
    } finally {
      await world.stop();
    }
  },
};
