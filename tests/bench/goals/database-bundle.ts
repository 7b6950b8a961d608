// DB: a bundle of a million audit rows against COPY of the same rows to nowhere, on one server and through the same reader.
// The memory is that of the program that takes bundles, as it is shipped: from the sources its contracts alone take 120 MB.
// Ours also packs, hashes, syncs and reads back what it wrote; the anchor keeps nothing.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Bench, Goal } from "../harness/bench.ts";
import { startChild } from "../harness/child.ts";
import type { Row } from "../harness/report.ts";
import { runShippedHost } from "../harness/shipped-host.ts";
import { interleaveSamples, pairedRates } from "../harness/statistics.ts";

type Timed = { seconds: number; megabytes: number };
const rowCount = 1_000_000;

async function run({ options, say }: Bench): Promise<Row[]> {
  const dir = mkdtempSync(join(tmpdir(), "svc-bench-bundle-"));
  const start = (file: string) =>
    startChild(`subjects/${file}.ts`, { logDir: dir, env: { SVC_BENCH_DIR: dir } });
  const database = await start("database");
  const bundle = await start("bundle");
  const copy = await start("bundle");
  try {
    say(`writing ${rowCount} audit rows`);
    const url = await database.ask<string>("fill", options.isQuick ? rowCount / 10 : rowCount);
    const found = await interleaveSamples(options.rounds, {
      ours: () => bundle.ask<Timed>("bundle", url),
      copy: () => copy.ask<Timed>("copy", url),
    });
    const peakMb = await shippedPeakMb(url, join(dir, "shipped"));
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
    await copy.stop();
    await bundle.stop();
    await database.ask("end");
    await database.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function shippedPeakMb(url: string, dir: string): Promise<number> {
  const env = { SVC_ADMIN_DATABASE_URL: url, SVC_SET: `ops_watchdog.bundle_dir=${dir}` };
  // The first start compiles.
  await runShippedHost({ do: "list" }, env);
  return (await runShippedHost({ do: "back-up", label: "manual" }, env)).peakMb;
}

export const databaseBundle: Goal = { name: "DB", title: "Database bundles", run };
