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

const limit = { bound: "at least", of: "ratio", goal: 0.7 } as const;

type Timed = { seconds: number };

async function run({ options }: Bench): Promise<Row[]> {
  const dir = mkdtempSync(join(tmpdir(), "svc-bench-copies-"));
  const megabytes = options.isQuick ? 64 : 256;
  const server = await startChild("subjects/s3-server.ts", { logDir: dir });
  const start = () => startChild("subjects/sealed-bytes.ts", { logDir: dir, env: { SVC_BENCH_DIR: dir } });
  const client = await start();
  const bare = await start();
  try {
    await bare.ask("fill", megabytes);
    for (const one of [client, bare]) await one.ask("connect", await server.ask("options"));
    const time = (command: string) => () => client.ask<Timed>(command);
    const timeBare = (command: string) => () => bare.ask<Timed>(command);
    const stored = await interleaveSamples(options.rounds, { ours: time("put"), bare: timeBare("barePut") });
    const fetched = await interleaveSamples(options.rounds, {
      ours: time("fetch"),
      bare: timeBare("bareFetch"),
    });
    await client.ask("hold");
    const pure = await interleaveSamples(options.rounds, {
      seal: time("seal"),
      open: time("open"),
      cipher: time("cipher"),
    });
    const row = (what: string, ours: Timed[], anchor: Timed[]): Row => ({
      ...{ goal: "SEAL", what, unit: "MB/s", limit },
      ...pairedRates(megabytes, { ours, anchor }),
      anchorName: anchor === pure.cipher ? "bare cipher" : "bare SDK",
    });
    return [
      row("a file sealed", pure.seal, pure.cipher),
      row("a sealed object opened", pure.open, pure.cipher),
      row("a file sealed and stored", stored.ours, stored.bare),
      row("a copy fetched and opened", fetched.ours, fetched.bare),
    ];
  } finally {
    await bare.stop();
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
