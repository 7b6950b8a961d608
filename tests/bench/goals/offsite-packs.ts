// OFFSITE-PACKS: as OFFSITE-PASS, with `offsite.packs`: a pass over 10,000 deduplicated archives that all have their copies in packs and
// finds nothing to do. Then a synthetic world is played for ten days and backed up and copied after each; what the bucket has of it
// then, packs, manifests and all, is compared with what it had after the first day. The newest is brought back. Unfair would be
// archives that are not here, or a list that nobody has to read.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Bench, Goal } from "../harness/bench.ts";
import { type Child, startChild } from "../harness/child.ts";
import type { Row } from "../harness/report.ts";
import { runShippedHost } from "../harness/shipped-host.ts";
import { median } from "../harness/statistics.ts";

type Pass = { state: string; report: { sent: number; error?: string } };
type Subjects = { s3: Child; fixture: Child; env: NodeJS.ProcessEnv };

const days = 10;
const row = { goal: "OFFSITE-PACKS" };
const atMost = (goal: number) => ({ bound: "at most", of: "figure", goal }) as const;
const memory = (during: string, peakMb: number): Row => ({
  ...{ ...row, what: `memory at the peak of ${during}`, unit: "MB", ours: peakMb, limit: atMost(150) },
});

async function sync({ s3, env }: Subjects, sent?: number) {
  await s3.ask("requests");
  const ran = await runShippedHost({ do: "offsite-sync" }, env);
  const { state, report } = ran.answer as Pass;
  if (state !== "completed" || report.sent !== (sent ?? report.sent))
    throw new Error(`not as it should be: ${state} ${JSON.stringify(report)}`);
  return { ...ran, requests: await s3.ask<number>("requests") };
}

async function run({ options, say }: Bench): Promise<Row[]> {
  const dir = mkdtempSync(join(tmpdir(), "svc-bench-offsite-"));
  const s3 = await startChild("subjects/s3-server.ts", { logDir: dir });
  const fixture = await startChild("subjects/offsite.ts", { logDir: dir, env: { SVC_BENCH_DIR: dir } });
  const count = options.isQuick ? 1_000 : 10_000;
  try {
    const store = await s3.ask("options");
    const env = await fixture.ask<NodeJS.ProcessEnv>("env", store);
    const subjects = { s3, fixture, env: { ...env, SVC_SET: `${env["SVC_SET"]}\noffsite.packs=true` } };
    say(`sealing copies of ${count} archives in packs`);
    await fixture.ask("fillPacked", { count, s3: store });
    await runShippedHost({ do: "back-up", label: "daily" }, env);
    // It reads every manifest and writes the list.
    const first = await sync(subjects, 1);
    const idle = [];
    for (let round = 0; round < options.rounds; round += 1) idle.push(await sync(subjects, 0));
    const what = `a pass with nothing to do over ${count.toLocaleString("en")} archives in packs`;
    return [
      { ...row, what, unit: "s", ours: median(idle.map(({ seconds }) => seconds)), limit: atMost(5) },
      {
        ...{ ...row, what: "its requests to the store", unit: "requests", limit: atMost(40) },
        ours: Math.max(...idle.map(({ requests }) => requests)),
      },
      memory("such a pass", Math.max(...idle.map(({ peakMb }) => peakMb))),
      memory("one that reads every manifest", first.peakMb),
      ...(await playDays(subjects, { width: options.isQuick ? 3 : 7, isQuick: options.isQuick })),
    ];
  } finally {
    await fixture.ask("end").catch(() => undefined);
    await fixture.stop();
    await s3.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function playDays(
  subjects: Subjects,
  { width, isQuick }: { width: number; isQuick: boolean },
): Promise<Row[]> {
  const { s3, fixture, env } = subjects;
  const stored = () => s3.ask<number>("bytes", { containing: "/days-" });
  const passes = [];
  let one = 0;
  for (let day = 1; day <= days; day += 1) {
    await fixture.ask("addDay", { day, width });
    passes.push(await sync(subjects));
    one ||= await stored();
  }
  const ratio = (await stored()) / one;
  await fixture.ask("loseDay", { day: days });
  const fetched = await runShippedHost({ do: "offsite-fetch-worlds" }, env);
  if (!(await fixture.ask("hasDay", { day: days })))
    throw new Error(`nothing came back: ${JSON.stringify(fetched.answer)}`);
  return [
    {
      ...{ ...row, what: "ten daily copies of a world against one", unit: "x", ours: ratio },
      // Players change the same amount of a small world.
      ...(!isQuick && { limit: atMost(1.3) }),
    },
    memory("the passes that store them", Math.max(...passes.map(({ peakMb }) => peakMb))),
    memory("a fetch of the newest", fetched.peakMb),
  ];
}

export const offsitePacks: Goal = { name: "OFFSITE-PACKS", title: "Off-site copies in packs", run };
