// OFFSITE-PASS: the program that keeps off-site copies, as it is shipped, against the storage that ships, a durable PostgreSQL and the
// strict S3 server of the tests. A pass over 10,000 archives that all have their copies: it lists the bucket and the
// archives, judges each, and finds nothing to do; its time is that of the whole process. Then one archive of 256 MB is copied, and
// brought back after its file was lost; the memory is the most that the process had. From its sources it has 120 MB
// before it does anything. Unfair would be: archives without files, or copies that nobody sealed.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Bench, Goal } from "../harness/bench.ts";
import { startChild } from "../harness/child.ts";
import type { Row } from "../harness/report.ts";
import { runShippedHost } from "../harness/shipped-host.ts";
import { median } from "../harness/statistics.ts";

type Pass = { state: string; report: { sent: number; error?: string } };

const row = { goal: "OFFSITE-PASS" };
const atMost = (goal: number) => ({ bound: "at most", of: "figure", goal }) as const;

async function run({ options, say }: Bench): Promise<Row[]> {
  const dir = mkdtempSync(join(tmpdir(), "svc-bench-offsite-"));
  const s3 = await startChild("subjects/s3-server.ts", { logDir: dir });
  const fixture = await startChild("subjects/offsite.ts", { logDir: dir, env: { SVC_BENCH_DIR: dir } });
  const count = options.isQuick ? 1_000 : 10_000;
  try {
    const store = await s3.ask("options");
    const env = await fixture.ask<NodeJS.ProcessEnv>("env", store);
    say(`sealing copies of ${count} archives`);
    await fixture.ask("fill", { count, s3: store });
    const sync = async (sent: number) => {
      await s3.ask("requests");
      const ran = await runShippedHost({ do: "offsite-sync" }, env);
      const { state, report } = ran.answer as Pass;
      if (state !== "completed" || report.sent !== sent)
        throw new Error(`not as it should be: ${state} ${JSON.stringify(report)}`);
      return { ...ran, requests: await s3.ask<number>("requests") };
    };
    // The first start compiles.
    await runShippedHost({ do: "back-up", label: "daily" }, env);
    await sync(1);
    const idle = [];
    for (let round = 0; round < options.rounds; round += 1) idle.push(await sync(0));
    await fixture.ask("addLarge", { bytes: (options.isQuick ? 32 : 256) * 1e6 });
    // With it goes a bundle that knows of it.
    const stored = await sync(2);
    await fixture.ask("loseLarge");
    const fetched = await runShippedHost({ do: "offsite-fetch-worlds" }, env);
    if (!(await fixture.ask("hasLarge")))
      throw new Error(`nothing came back: ${JSON.stringify(fetched.answer)}`);
    const what = `a pass with nothing to do over ${count.toLocaleString("en")} archives`;
    const memory = (during: string, peakMb: number): Row => ({
      ...{ ...row, what: `memory at the peak of ${during}`, unit: "MB", ours: peakMb, limit: atMost(150) },
    });
    return [
      { ...row, what, unit: "s", ours: median(idle.map(({ seconds }) => seconds)), limit: atMost(5) },
      {
        ...{ ...row, what: "its requests to the store", unit: "requests", limit: atMost(40) },
        ours: Math.max(...idle.map(({ requests }) => requests)),
      },
      memory("such a pass", Math.max(...idle.map(({ peakMb }) => peakMb))),
      memory("a pass that stores 256 MB", stored.peakMb),
      memory("a fetch of 256 MB", fetched.peakMb),
    ];
  } finally {
    await fixture.ask("end").catch(() => undefined);
    await fixture.stop();
    await s3.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

export const offsitePass: Goal = { name: "OFFSITE-PASS", title: "Off-site passes over many archives", run };
