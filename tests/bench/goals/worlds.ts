// G15, G16, G17, G20: a world packed, unpacked, copied and extracted from a zip, against the tools of the machine on the
// same files. Ours are the functions of libs/world that the agent calls. Unfair would be: a backup without its digest, a
// restore that trusts the archive, a copy that nobody held against its source; so ours do all of that, and the whole
// backup with its read-back is told beside. Caches are warm for all alike. Restore, copy and extraction of ours make the
// volume durable before they change over; the tools leave that to whoever comes, so each has a row against the tool
// alone, which the goal is of, and one against the tool and a sync.
// Every mode runs in a process of its own, and what that grew by at its peak is told at the end.

import { join } from "node:path";
import type { Arena, Goal } from "../harness/bench.ts";
import { startFace } from "../harness/face.ts";
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
    bare: () => world.shell("tar -c world | zstd -3 -T2 -q -o bare.tar.zst", "bare.tar.zst"),
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
    bare: () => world.shell("mkdir bare && zstd -d -q -c bare.tar.zst | tar -x -C bare", "bare"),
    synced: () =>
      world.shell("mkdir bare && zstd -d -q -c bare.tar.zst | tar -x -C bare && sync -f bare", "bare"),
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
    {
      goal: "G16",
      what: "read of a backup for one file of 1 MB",
      unit: "%",
      ours: (await world.ours<Timed & { percent: number }>("pick")).percent,
      // A tenth of the world has a tenth of the frames.
      ...(!arena.options.isQuick && { limit: { bound: "at most", of: "figure", goal: 5 } }),
    },
  ];
}

async function copying(arena: Arena, world: WorldArena): Promise<Row[]> {
  const found = await interleave(arena.options.rounds, {
    ours: () => world.ours<Timed>("copy"),
    bare: () => world.shell("cp -r world bare", "bare"),
    synced: () => world.shell("cp -r world bare && sync -f bare", "bare"),
  });
  const row = { goal: "G17", unit: "MB/s", ours: world.megabytes / found.ours.seconds };
  return [
    {
      ...row,
      what: "world copied, compared, synced",
      anchor: world.megabytes / found.bare.seconds,
      anchorName: "cp -r",
      limit: { bound: "at least", of: "ratio", goal: 0.9 },
    },
    {
      ...row,
      what: "the same against one that is synced too",
      anchor: world.megabytes / found.synced.seconds,
      anchorName: "cp -r, sync",
    },
  ];
}

async function extracting(arena: Arena, world: WorldArena): Promise<Row[]> {
  await world.shell("rm -f world.zip && zip -q -1 -r world.zip world");
  const found = await interleave(arena.options.rounds, {
    ours: () => world.ours<Timed>("extract"),
    unzip: () => world.shell("mkdir peer && unzip -q world.zip -d peer", "peer"),
    yauzl: () => world.bare<Timed>("anchors/unzip.ts", "extract"),
  });
  const row = { goal: "G20", unit: "MB/s", ours: world.megabytes / found.ours.seconds };
  const what = "zip extraction with all checks, synced";
  return [
    {
      ...row,
      what,
      anchor: world.megabytes / found.unzip.seconds,
      anchorName: "unzip",
      limit: { bound: "at least", of: "ratio", goal: 0.6, stretch: 1 },
    },
    {
      ...row,
      what,
      anchor: world.megabytes / found.yauzl.seconds,
      anchorName: "yauzl alone",
      limit: { bound: "at least", of: "ratio", goal: 0.8 },
    },
  ];
}

const told: Record<string, string> = {
  keep: "backup",
  restore: "restore",
  copy: "copy",
  send: "export",
  land: "upload",
  extract: "extraction",
};

/** The last two modes, which have no goal of their own, and what each process grew by. */
async function growing(world: WorldArena): Promise<Row[]> {
  const face = await startFace(join(world.base, "store", "bench-1.tar.zst"));
  try {
    await world.ours("send", { url: face.url });
    await world.ours("land", { url: face.url, size: face.size, sha256: face.sha256 });
  } finally {
    await face.stop();
  }
  const growth = await world.growth();
  return Object.entries(told).map(([mode, name]) => ({
    goal: "MEM",
    what: `growth of the process of one ${name}, at its peak`,
    unit: "MB",
    ours: growth[mode] ?? Number.NaN,
    limit: { bound: "at most", of: "figure", goal: 150 },
  }));
}

export const worlds: Goal = {
  name: "G15",
  covers: ["G16", "G17", "G20", "MEM"],
  title: "worlds packed, unpacked, copied and extracted",
  run: async (arena) => {
    const world = await startWorldArena(arena);
    try {
      return [
        ...(await packing(arena, world)),
        ...(await unpacking(arena, world)),
        ...(await copying(arena, world)),
        ...(await extracting(arena, world)),
        ...(await growing(world)),
      ];
    } finally {
      await world.stop();
    }
  },
};
