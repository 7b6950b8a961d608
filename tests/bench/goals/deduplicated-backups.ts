// DEDUP: backups that store content once, against whole ones of the same world on the same disk, both synced and read back.
// A synthetic world is played between ten daily ones (tests/bench/chunking). What they take is everything that was added to
// the folder, lists of chunks included.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Bench, Goal } from "../harness/bench.ts";
import { startChild } from "../harness/child.ts";
import type { Row } from "../harness/report.ts";
import { interleaveSamples, pairedRates } from "../harness/statistics.ts";

type Timed = { seconds: number };

const days = 10;
const row = { goal: "DEDUP" };

async function run({ options }: Bench): Promise<Row[]> {
  const base = mkdtempSync(join(tmpdir(), "svc-bench-dedup-"));
  const child = await startChild("subjects/deduplicated.ts", { logDir: base });
  const time =
    (command: string, about = {}) =>
    () =>
      child.ask<Timed>(command, { base, ...about });
  try {
    await child.ask("fill", { base, width: options.isQuick ? 3 : 7 });
    await child.ask("play");
    const { bytes } = await child.ask<{ bytes: number }>("whole", { base });
    const rounds = options.isQuick ? options.rounds : Math.max(10, options.rounds);
    const made = await interleaveSamples(rounds, { ours: time("first"), anchor: time("whole") });
    const read = await interleaveSamples(rounds, {
      ours: time("verify", { folder: "first" }),
      anchor: time("verify", { folder: "whole" }),
    });
    let added = 0;
    let later = 0;
    for (let day = 1; day <= days; day += 1) {
      const next = await child.ask<Timed & { added: number }>("next", { base, day });
      added += next.added;
      later += day === 1 ? 0 : next.seconds / (days - 1);
      await child.ask("play");
    }
    const megabytes = bytes / 1e6;
    const rated = { unit: "MB/s", anchorName: "whole" };
    return [
      {
        ...row,
        ...rated,
        what: "first deduplicated backup",
        ...pairedRates(megabytes, made),
        limit: { bound: "at least", of: "ratio", goal: 0.87 },
      },
      { ...row, ...rated, what: "verification of one", ...pairedRates(megabytes, read) },
      { ...row, unit: "MB/s", what: "later deduplicated backup", ours: megabytes / later },
      {
        ...row,
        unit: "x",
        what: "ten daily backups against one whole",
        ours: added / bytes,
        // Players change the same amount of a small world.
        ...(!options.isQuick && { limit: { bound: "at most", of: "figure", goal: 1.3 } }),
      },
    ];
  } finally {
    await child.stop();
    rmSync(base, { recursive: true, force: true });
  }
}

export const deduplicatedBackups: Goal = {
  name: "DEDUP",
  title: "backups that store content once",
  run,
};
