// G15, G16, G20: a world packed, unpacked and extracted from a zip, against the tools of the machine on the same files.
// Ours are the functions of libs/world that the agent calls. Unfair would be: a backup without its digest, or a restore
// that trusts the archive; so the restore row holds both passes, and the whole backup with its read-back is told beside.
// Caches are warm for all alike, and nobody syncs but ours: restore and extraction make the volume durable.

import type { Arena, Goal } from "../harness/bench.ts";
import { interleave } from "../harness/numbers.ts";
import type { Row } from "../harness/report.ts";
import { startWorldArena, type WorldArena } from "../harness/world.ts";

type Timed = { seconds: number; heapMb: number };

async function packing(arena: Arena, world: WorldArena): Promise<Row[]> {
  let heapMb = 0;
  const found = await interleave(arena.options.rounds, {
    ours: () => world.ours<Timed>("write"),
    whole: async () => {
      const { seconds, ...rest } = await world.ours<Timed>("keep");
      heapMb = Math.max(heapMb, rest.heapMb);
      return { seconds };
    },
    spawned: () => world.piped("tar -c world | zstd -3 -T2 -q", "spawned.tar.zst"),
    bare: () => world.shell("tar -c world | zstd -3 -T2 -q -f -o bare.tar.zst"),
  });
  const row = { goal: "G15", unit: "MB/s", ours: world.megabytes / found.ours.seconds };
  return [
    {
      ...row,
      what: "backup with sha256",
      anchor: world.megabytes / found.spawned.seconds,
      anchorName: "node spawns tar | zstd",
      limit: { bound: "at least", of: "ratio", goal: 0.9 },
    },
    {
      ...row,
      what: "backup with sha256",
      anchor: world.megabytes / found.bare.seconds,
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
    { ...row, what: "backup, synced and read back whole", ours: world.megabytes / found.whole.seconds },
  ];
}

async function unpacking(arena: Arena, world: WorldArena): Promise<Row[]> {
  const found = await interleave(arena.options.rounds, {
    ours: () => world.ours<Timed>("restore"),
    bare: () => world.shell("rm -rf bare && mkdir bare && zstd -d -q -c bare.tar.zst | tar -x -C bare"),
    synced: () =>
      world.shell("rm -rf bare && mkdir bare && zstd -d -q -c bare.tar.zst | tar -x -C bare && sync -f bare"),
  });
  const ours = world.megabytes / found.ours.seconds;
  return [
    {
      goal: "G16",
      what: "restore, verified before, synced",
      unit: "MB/s",
      ours,
      anchor: world.megabytes / found.bare.seconds,
      anchorName: "zstd -d | tar x",
      limit: { bound: "at least", of: "ratio", goal: 0.8, stretch: 0.95 },
    },
    {
      goal: "G16",
      what: "the same against one that is synced too",
      unit: "MB/s",
      ours,
      anchor: world.megabytes / found.synced.seconds,
      anchorName: "zstd -d | tar x, sync",
    },
  ];
}

async function extracting(arena: Arena, world: WorldArena): Promise<Row[]> {
  await world.shell("rm -f world.zip && zip -q -1 -r world.zip world");
  const found = await interleave(arena.options.rounds, {
    ours: () => world.ours<Timed>("extract"),
    bare: () => world.shell("rm -rf peer && mkdir peer && unzip -q world.zip -d peer"),
  });
  return [
    {
      goal: "G20",
      what: "zip extraction with all checks, synced",
      unit: "MB/s",
      ours: world.megabytes / found.ours.seconds,
      anchor: world.megabytes / found.bare.seconds,
      anchorName: "unzip",
      limit: { bound: "at least", of: "ratio", goal: 0.6, stretch: 1 },
    },
  ];
}

export const worlds: Goal = {
  name: "G15",
  covers: ["G16", "G20"],
  title: "worlds packed and unpacked",
  run: async (arena) => {
    const world = await startWorldArena(arena);
    try {
      return [
        ...(await packing(arena, world)),
        ...(await unpacking(arena, world)),
        ...(await extracting(arena, world)),
      ];
    } finally {
      await world.stop();
    }
  },
};
