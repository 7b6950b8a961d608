// A fleet of 10,000 servers, nearly all asleep (docs/performance.md and "How cost may grow"), on a running stack:
// objects in the embedded cluster, rows in PostgreSQL, everything seen through the gateways.
// The anchors of growth are the same figures of the same run with about 100 servers. Wakes are compared by their
// medians. Memory is that of the lifecycle process some seconds after it came to rest.
// After SIGKILL of lifecycle the view is current again when its age, told by the gateway's `Age` header, says that the
// owner has vouched for the whole of it since the kill (precise to a second). The lease of the killed leader has to run
// out first (12 s by default), which is part of the figure.

import { until } from "@svc/local-stack/testing";
import type { Bench, Goal, Target } from "../harness/bench.ts";
import { measure, warm } from "../harness/bench.ts";
import { growFleet, listedServers, untilQuiet } from "../harness/fleet.ts";
import { residentMb, watchCpu } from "../harness/process-stats.ts";
import type { Row } from "../harness/report.ts";
import type { BenchStack } from "../harness/stack.ts";
import { interleave, median } from "../harness/statistics.ts";
import type { Answer } from "../load/http.ts";
import { wakeOnce } from "./server-wake.ts";

const few = 100;
const many = 10_000;

type Figures = { wakeMs: number; statusMs: number };

function servicePids(stack: BenchStack): number[] {
  const names = ["lifecycle", "identity", "gateway-internal", "gateway-external", "nats", "postgres"];
  return [...names, "storage", "builds", "ops-watchdog"].map(stack.pidOf);
}

async function wakes(bench: Bench, stack: BenchStack, prefix: string): Promise<number> {
  const took: number[] = [];
  for (let turn = 1; turn <= (bench.options.isQuick ? 1 : 5); turn += 1) {
    const name = `bench-${prefix}-${turn}`;
    await stack.ensureServer(name);
    took.push(await wakeOnce(stack, name));
  }
  return median(took);
}

async function figures(bench: Bench, stack: BenchStack, prefix: string): Promise<Figures> {
  const status: Target = { ...stack.owner, path: "/api/v1/servers/bench-00042/status", pids: [] };
  await warm(bench, status);
  const at1 = await interleave(bench.options.rounds, { ours: () => measure(bench, status, 1) });
  return { wakeMs: await wakes(bench, stack, prefix), statusMs: at1.ours.p50Ms };
}

/** Kills lifecycle and answers the seconds until the view is vouched for as a whole again. */
export async function viewAgain(bench: Pick<Bench, "load">, stack: BenchStack): Promise<number> {
  const killedAt = Date.now();
  process.kill(stack.pidOf("lifecycle"), "SIGKILL");
  const { port, headers } = stack.proxy;
  const plan = { host: "127.0.0.1", port, method: "GET", path: "/api/v1/servers", headers };
  await until(
    async () => {
      await new Promise((wake) => setTimeout(wake, 100));
      const answer = await bench.load.ask<Answer>("once", plan);
      const age = /\r\nage: *(\d+)/i.exec(answer.head)?.[1];
      return age !== undefined && Date.now() - (Number(age) + 1) * 1_000 > killedAt;
    },
    120_000,
    "the view to be current again",
  );
  return (Date.now() - killedAt) / 1_000;
}

function growthRows(small: Figures, large: Figures): Row[] {
  const same = { anchorName: `${few} servers` };
  return [
    {
      ...same,
      goal: "FLEET",
      what: "wake with 10,000 servers",
      unit: "ms",
      ours: large.wakeMs,
      anchor: small.wakeMs,
      limit: { bound: "at most", of: "ratio", goal: 1.2 },
    },
    {
      ...same,
      goal: "FLEET",
      what: "status of one of 10,000 servers, c1, p50",
      unit: "ms",
      ours: large.statusMs,
      anchor: small.statusMs,
      limit: { bound: "at most", of: "ratio", goal: 1.2 },
    },
  ];
}

async function restRows(bench: Bench, stack: BenchStack): Promise<Row[]> {
  const lifecycleMb = residentMb(stack.pidOf("lifecycle"));
  const restMs = bench.options.isQuick ? 5_000 : 20_000;
  const cpu = watchCpu([...servicePids(stack), stack.pidOf("local-cluster")]);
  await new Promise((wake) => setTimeout(wake, restMs));
  const cores = cpu() / (restMs * 1_000);
  return [
    {
      goal: "FLEET",
      what: "lifecycle with 10,000 servers, resident",
      unit: "MB",
      ours: lifecycleMb,
      limit: { bound: "at most", of: "figure", goal: 400 },
    },
    {
      goal: "FLEET",
      what: "idle control plane with 10,000 servers",
      unit: "cores",
      ours: cores,
      limit: { bound: "at most", of: "figure", goal: 0.3 },
    },
    {
      goal: "FLEET",
      what: "view complete after lifecycle was killed",
      unit: "s",
      ours: await viewAgain(bench, stack),
      limit: { bound: "at most", of: "figure", goal: 20 },
    },
  ];
}

export const fleet: Goal = {
  name: "FLEET",
  title: "10,000 servers",
  run: async (bench) => {
    const stack = await bench.stack();
    await growFleet(stack, 0, few);
    await until(async () => (await listedServers(stack)) >= few, 60_000, `${few} servers in the view`);
    const small = await figures(bench, stack, "few");
    const startedAt = performance.now();
    await growFleet(stack, few, many);
    const createdS = (performance.now() - startedAt) / 1_000;
    await until(async () => (await listedServers(stack)) >= many, 300_000, `${many} servers in the view`);
    const seenS = (performance.now() - startedAt) / 1_000;
    await untilQuiet([stack.pidOf("lifecycle")]);
    const large = await figures(bench, stack, "many");
    await untilQuiet([stack.pidOf("lifecycle")]);
    const note = `created in ${createdS.toFixed(0)} s`;
    return [
      ...growthRows(small, large),
      ...(await restRows(bench, stack)),
      { goal: "FLEET", what: "10,000 new servers in the proxy's list", unit: "s", ours: seenS, note },
    ];
  },
};
