// G21: boot of each service, from the start of its process to the first 200 of its /readyz, with bus and database up
// and warm code caches; one after another, then all at once. Every service may run with any number of replicas, so a
// second one is started beside the first of a running stack, with its environment and a free port.
// The peer is MCSManager: 0.5 s each.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { serviceNames } from "@svc/local-stack";
import type { Bench, Goal } from "../harness/bench.ts";
import { environmentOf } from "../harness/process-stats.ts";
import type { Row } from "../harness/report.ts";
import { type Service, startService } from "../harness/service.ts";
import type { BenchStack } from "../harness/stack.ts";
import { median } from "../harness/statistics.ts";

function boot(stack: BenchStack, name: string): Promise<Service> {
  const logDir = join(stack.dir, "logs", "bench");
  mkdirSync(logDir, { recursive: true });
  const env = { ...environmentOf(stack.pidOf(name)), SVC_LISTEN: "127.0.0.1:0", SVC_HEALTH_PORT: "0" };
  return startService({ name, logDir, env });
}

async function bootOnce(stack: BenchStack, name: string): Promise<number> {
  const service = await boot(stack, name);
  await service.stop();
  return service.bootMs;
}

async function bootAll(stack: BenchStack): Promise<number> {
  const startedAt = performance.now();
  const services = await Promise.all(serviceNames.map((name) => boot(stack, name)));
  const tookMs = performance.now() - startedAt;
  await Promise.all(services.map((service) => service.stop()));
  return tookMs;
}

async function rowsOf(bench: Bench, stack: BenchStack): Promise<Row[]> {
  const rounds = bench.options.isQuick ? 1 : bench.options.rounds;
  const rows: Row[] = [];
  for (const name of serviceNames) {
    const took: number[] = [];
    for (let round = 0; round < rounds; round += 1) took.push(await bootOnce(stack, name));
    rows.push({
      goal: "G21",
      what: `${name}, start to ready`,
      unit: "s",
      ours: median(took) / 1_000,
      limit: { bound: "at most", of: "figure", goal: 2, stretch: 1 },
    });
  }
  const took: number[] = [];
  for (let round = 0; round < rounds; round += 1) took.push(await bootAll(stack));
  const limit = { bound: "at most", of: "figure", goal: 8 } as const;
  return [
    ...rows,
    { goal: "G21", what: "all services at once", unit: "s", ours: median(took) / 1_000, limit },
  ];
}

export const serviceBoot: Goal = {
  name: "G21",
  title: "boot of the services",
  run: async (bench) => rowsOf(bench, await bench.stack()),
};
