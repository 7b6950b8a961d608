// What every goal file is given, and what it gives back.

import type { LoadPlan, LoadResult } from "../load/http.ts";
import type { Child } from "./child.ts";
import type { Fixture } from "./fixture.ts";
import { watchCpu } from "./process-stats.ts";
import type { Row } from "./report.ts";
import type { BenchStack } from "./stack.ts";

export type Options = {
  rounds: number;
  /** Short windows: to see that everything works, not to judge by. */
  isQuick: boolean;
  /** The gateway's memory is watched over a million requests instead of 250,000. */
  isFull: boolean;
  /** Where the services of the fixture leave CPU profiles. */
  profileDir?: string | undefined;
};

export type Bench = {
  options: Options;
  /** Length of one measured window. */
  windowMs: number;
  load: Child;
  /** Processes of ours that are not descendants of the bench, such as the supervisor of a stack. */
  detached: Set<number>;
  /** Started with the first goal that asks. */
  fixture: () => Promise<Fixture>;
  stack: () => Promise<BenchStack>;
  say: (text: string) => void;
};

export type Goal = {
  name: string;
  /** Other goals that are measured along with it. */
  covers?: readonly string[];
  title: string;
  /** Starts processes that are not descendants of the bench and not in `detached`: nobody can tell them from outsiders. */
  startsUnknown?: true;
  run: (bench: Bench) => Promise<Row[]>;
};

export type Sample = { rps: number; p50Ms: number; p99Ms: number; cpuUs: number };

export type Target = Omit<LoadPlan, "host" | "connections" | "durationMs" | "method" | "expectStatus"> & {
  method?: string;
  expectStatus?: number;
  /** Processes whose CPU counts as the cost of a request, descendants included. */
  pids: readonly number[];
};

/** Puts load on a target for one window; the CPU is that of all its processes, per request. */
export async function measure(
  bench: Bench,
  target: Target,
  connections: number,
  size: { windowMs?: number; requests?: number } = {},
): Promise<Sample> {
  const { pids, ...rest } = target;
  const plan: LoadPlan = {
    host: "127.0.0.1",
    method: "GET",
    expectStatus: 200,
    connections,
    durationMs: size.windowMs ?? bench.windowMs,
    ...rest,
    ...(size.requests !== undefined && { requests: size.requests }),
  };
  const cpu = watchCpu(pids);
  const { requests, rps, p50Ms, p99Ms } = await bench.load.ask<LoadResult>("run", plan);
  return { rps, p50Ms, p99Ms, cpuUs: cpu() / requests };
}

/** Lets V8 compile the hot paths of a target before it counts. */
export async function warm(bench: Bench, target: Target): Promise<void> {
  await measure(bench, target, 10, { windowMs: bench.options.isQuick ? 700 : 2_000 });
}
