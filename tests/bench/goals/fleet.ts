// A fleet of 10,000 servers, nearly all asleep (docs/performance.md and "How cost may grow"), on a running stack:
// objects in the embedded cluster, rows in PostgreSQL, everything seen through the gateways.
// The anchors of growth are the same figures of the same run with about 100 servers. Wakes are compared by their
// medians. Memory is that of the lifecycle process some seconds after it came to rest.
// After SIGKILL of lifecycle the view is current again when its age, told by the gateway's `Age` header, says that the
// owner has vouched for the whole of it since the kill (precise to a second). The lease of the killed leader has to run
// out first (12 s by default), which is part of the figure.
// G6: nobody pages over HTTP; pages exist on the bus, where a gateway collects them from the owner. The stack runs with
// `lifecycle.list_page = 100`; measured is one page out of the middle, asked by a process that stands for a gateway and
// whose CPU is not counted. Anchor: bare Fastify that cuts and encodes a page of 100 out of 10,000 for each request.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { until } from "@svc/local-stack/testing";
import type { Bench, Goal, Target } from "../harness/bench.ts";
import { measure, warm } from "../harness/bench.ts";
import { startChild } from "../harness/child.ts";
import { growFleet, listedServers, untilQuiet } from "../harness/fleet.ts";
import { environmentOf, residentMb, watchCpu } from "../harness/process-stats.ts";
import type { Row } from "../harness/report.ts";
import type { BenchStack } from "../harness/stack.ts";
import { interleave, median } from "../harness/statistics.ts";
import type { Answer } from "../load/http.ts";
import { wakeOnce } from "./server-wake.ts";

const few = 100;
const many = 10_000;

type PageFigures = { cpuUs: number; p50Ms: number; p99Ms: number };
type Figures = { wakeMs: number; statusMs: number; page: PageFigures };

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

type Pages = (bench: Bench, after: string) => Promise<PageFigures>;

async function openPager(stack: BenchStack): Promise<{ pages: Pages; stop: () => Promise<void> }> {
  const logDir = join(stack.dir, "logs", "bench");
  mkdirSync(logDir, { recursive: true });
  const { SVC_NATS_URL, SVC_NATS_USER, SVC_NATS_PASSWORD } = environmentOf(stack.pidOf("gateway-internal"));
  const env = { SVC_NATS_URL, SVC_NATS_USER, SVC_NATS_PASSWORD };
  const pager = await startChild("subjects/pager.ts", { env, logDir });
  const pages: Pages = async (bench, after) => {
    const plan = { cursor: after, callers: 10, durationMs: bench.windowMs };
    const cpu = watchCpu([stack.pidOf("lifecycle"), stack.pidOf("nats")]);
    const { requests, p50Ms, p99Ms } = await pager.ask<{ requests: number; p50Ms: number; p99Ms: number }>(
      "run",
      plan,
    );
    return { cpuUs: cpu() / requests, p50Ms, p99Ms };
  };
  return { pages, stop: pager.stop };
}

/** `after`: the page begins behind this name, and is full. */
async function figures(
  bench: Bench,
  stack: BenchStack,
  { prefix, after }: { prefix: string; after: string },
): Promise<Figures> {
  const status: Target = { ...stack.owner, path: "/api/v1/servers/bench-00042/status", pids: [] };
  await warm(bench, status);
  const at1 = await interleave(bench.options.rounds, { ours: () => measure(bench, status, 1) });
  const pager = await openPager(stack);
  await pager.pages(bench, after);
  const page = await interleave(bench.options.rounds, { ours: () => pager.pages(bench, after) });
  await pager.stop();
  const wakeMs = await wakes(bench, stack, prefix);
  return { wakeMs, statusMs: at1.ours.p50Ms, page: page.ours };
}

/** Kills lifecycle and answers the seconds until the view is vouched for as a whole again. */
async function viewAgain(bench: Bench, stack: BenchStack): Promise<number> {
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

async function pageAnchor(bench: Bench, stack: BenchStack): Promise<number> {
  const lists = await (await stack.anchors()).lists();
  const target: Target = { port: lists.port, path: "/page", headers: {}, pids: [lists.pid] };
  await warm(bench, target);
  const found = await interleave(bench.options.rounds, { page: () => measure(bench, target, 10) });
  await lists.stop();
  return found.page.cpuUs;
}

function growthRows(small: Figures, large: Figures, pageUs: number): Row[] {
  const same = { anchorName: `${few} servers` };
  return [
    {
      goal: "G6",
      what: "page of 100 out of 10,000, CPU",
      unit: "us",
      ours: large.page.cpuUs,
      anchor: pageUs,
      anchorName: "Fastify page",
      limit: { bound: "at most", of: "ratio", goal: 3, stretch: 2 },
    },
    {
      ...same,
      goal: "G6",
      what: "page of 100, p99 at 10,000 servers",
      unit: "ms",
      ours: large.page.p99Ms,
      anchor: small.page.p99Ms,
      limit: { bound: "at most", of: "ratio", goal: 1.3 },
    },
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
  covers: ["G6"],
  title: "10,000 servers",
  run: async (bench) => {
    const stack = await bench.stack();
    await growFleet(stack, 0, few);
    await until(async () => (await listedServers(stack)) >= few, 60_000, `${few} servers in the view`);
    const small = await figures(bench, stack, { prefix: "few", after: "bench" });
    const startedAt = performance.now();
    await growFleet(stack, few, many);
    const createdS = (performance.now() - startedAt) / 1_000;
    await until(async () => (await listedServers(stack)) >= many, 300_000, `${many} servers in the view`);
    const seenS = (performance.now() - startedAt) / 1_000;
    await untilQuiet([stack.pidOf("lifecycle")]);
    const large = await figures(bench, stack, { prefix: "many", after: "bench-04999" });
    await untilQuiet([stack.pidOf("lifecycle")]);
    const note = `created in ${createdS.toFixed(0)} s`;
    return [
      ...growthRows(small, large, await pageAnchor(bench, stack)),
      ...(await restRows(bench, stack)),
      { goal: "FLEET", what: "10,000 new servers in the proxy's list", unit: "s", ours: seenS, note },
    ];
  },
};
