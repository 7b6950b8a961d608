// SEAL: one file sealed and opened against one run of the bare cipher over the same file, and stored and fetched
// against the bare SDK with parts of the same size. The S3 server is a process of its own and keeps all bytes in memory.
// Ours also remembers each part on the disk before it is sent.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Bench, Goal } from "../harness/bench.ts";
import { startChild } from "../harness/child.ts";
import type { Row } from "../harness/report.ts";
import { interleaveSamples, pairedRates } from "../harness/statistics.ts";

type Timed = { seconds: number; peakMb: number };

async function run({ options }: Bench): Promise<Row[]> {
  const dir = mkdtempSync(join(tmpdir(), "svc-bench-copies-"));
  const megabytes = options.isQuick ? 64 : 256;
  const server = await startChild("subjects/s3-server.ts", { logDir: dir });
  const client = await startChild("subjects/sealed-bytes.ts", { logDir: dir, env: { SVC_BENCH_DIR: dir } });
  try {
    await client.ask("fill", { megabytes, options: await server.ask("options") });
    const time = (command: string) => () => client.ask<Timed>(command);
    const stored = await interleaveSamples(options.rounds, { ours: time("put"), bare: time("barePut") });
    const fetched = await interleaveSamples(options.rounds, { ours: time("fetch"), bare: time("bareFetch") });
    const peakMb = Math.max(...[...stored.ours, ...fetched.ours].map((one) => one.peakMb));
    await client.ask("hold");
    const pure = await interleaveSamples(options.rounds, {
      seal: time("seal"),
      open: time("open"),
      cipher: time("cipher"),
    });
    const limit = { bound: "at least", of: "ratio", goal: 0.7 } as const;
    const rates = (ours: Timed[], anchor: Timed[]) => ({
      unit: "MB/s",
      ...pairedRates(megabytes, { ours, anchor }),
    });
    return [
      {
        goal: "SEAL",
        what: "a file sealed",
        ...rates(pure.seal, pure.cipher),
        anchorName: "bare cipher",
        limit,
      },
      {
        goal: "SEAL",
        what: "a sealed object opened",
        ...rates(pure.open, pure.cipher),
        anchorName: "bare cipher",
        limit,
      },
      {
        goal: "SEAL",
        what: "a file sealed and stored",
        ...rates(stored.ours, stored.bare),
        anchorName: "bare SDK",
        limit,
      },
      {
        goal: "SEAL",
        what: "a copy fetched and opened",
        ...rates(fetched.ours, fetched.bare),
        anchorName: "bare SDK",
        limit,
      },
      {
        ...{
          goal: "SEAL",
          what: "memory at the peak of storing and fetching, both ways",
          unit: "MB",
          ours: peakMb,
        },
        limit: { bound: "at most", of: "figure", goal: 150 },
      },
    ];
  } finally {
    await client.stop();
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

export const sealedCopies: Goal = {
  name: "SEAL",
  covers: ["OFFSITE"],
  title: "sealed copies in an object store",
  run,
};
