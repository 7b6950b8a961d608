// DB: a bundle of a million audit rows against COPY of the same rows to nowhere, on one server and through the same reader.
// Ours also packs, hashes, syncs and reads back what it wrote; the anchor keeps nothing.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Bench, Goal } from "../harness/bench.ts";
import { startChild } from "../harness/child.ts";
import type { Row } from "../harness/report.ts";
import { interleaveSamples, pairedRates } from "../harness/statistics.ts";

type Timed = { seconds: number; megabytes: number };
const rowCount = 1_000_000;

async function run({ options, say }: Bench): Promise<Row[]> {
  const dir = mkdtempSync(join(tmpdir(), "svc-bench-bundle-"));
  const child = await startChild("subjects/bundle.ts", { logDir: dir, env: { SVC_BENCH_DIR: dir } });
  try {
    say(`writing ${rowCount} audit rows`);
    await child.ask("fill", options.isQuick ? rowCount / 10 : rowCount);
    let peakMb = 0;
    const found = await interleaveSamples(options.rounds, {
      ours: async () => {
        const taken = await child.ask<Timed & { peakMb: number }>("bundle");
        peakMb = taken.peakMb;
        return taken;
      },
      copy: () => child.ask<Timed>("copy"),
    });
    const megabytes = found.copy[0]?.megabytes ?? 0;
    return [
      {
        goal: "DB",
        what: "bundle of 1,000,000 audit rows, read back",
        unit: "MB/s",
        ...pairedRates(megabytes, { ours: found.ours, anchor: found.copy }),
        anchorName: "COPY to nowhere",
        limit: { bound: "at least", of: "ratio", goal: 0.7 },
      },
      {
        goal: "DB",
        what: "memory at the peak of a bundle",
        unit: "MB",
        ours: peakMb,
        limit: { bound: "at most", of: "figure", goal: 150 },
      },
    ];
  } finally {
    await child.ask("end");
    await child.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

export const databaseBundle: Goal = { name: "DB", title: "Database bundles", run };
