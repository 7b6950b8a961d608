// Wake (docs/reference/data.md#leases): from the proxy's wake request to status Running and ready on the internal face, on a real
// local stack, on top of what the game server itself needs. Anchor: the same program started bare with an empty world
// until RCON lets us in; the two take turns. p95 of a handful of wakes is their slowest but for a rounding, so the
// slowest is taken. Each wake takes a server of its own (a wake has a cooldown of 30 s), which is stopped again.
// Unfair would be: a warm world on one side only, or several servers starting at once on two cores.

import { until } from "@svc/local-stack/testing";
import type { Bench, Goal } from "../harness/bench.ts";
import { startBareGame } from "../harness/game.ts";
import type { BenchStack } from "../harness/stack.ts";
import { median } from "../harness/statistics.ts";

const anyPlayer = "069a79f4-44e9-4726-a5be-fca90e38aaf5";

type Status = { phase?: string; ready?: boolean };

async function statusOf(stack: BenchStack, name: string): Promise<Status> {
  const { status, body } = await stack.internal("GET", `/api/v1/internal/servers/${name}/status`);
  return status === 200 ? (body as Status) : {};
}

/** Wakes a sleeping server; milliseconds until players may join. It sleeps again afterwards. */
export async function wakeOnce(stack: BenchStack, name: string): Promise<number> {
  await until(async () => (await statusOf(stack, name)).phase === "Stopped", 30_000, `${name} to be known`);
  const startedAt = performance.now();
  const path = `/api/v1/internal/servers/${name}/wake`;
  const { status, body } = await stack.internal("POST", path, { mc_uuid: anyPlayer });
  if (status !== 202) throw new Error(`waking ${name} answered ${status}: ${JSON.stringify(body)}`);
  await until(
    async () => {
      const { phase, ready } = await statusOf(stack, name);
      return phase === "Running" && ready === true;
    },
    120_000,
    `${name} to be Running`,
  );
  const tookMs = performance.now() - startedAt;
  await stack.external("POST", `/api/v1/servers/${name}/stop`);
  await until(
    async () => (await statusOf(stack, name)).phase === "Stopped",
    120_000,
    `${name} to be Stopped`,
  );
  return tookMs;
}

async function measureWakes(
  bench: Bench,
  stack: BenchStack,
): Promise<{ wakeMs: number[]; bareMs: number[] }> {
  const times = bench.options.isQuick ? 2 : Math.max(5, bench.options.rounds);
  const names = Array.from({ length: times }, (_, index) => `bench-wake-${index + 1}`);
  for (const name of names) await stack.ensureServer(name);
  const [wakeMs, bareMs]: [number[], number[]] = [[], []];
  for (const name of names) {
    bareMs.push(await startBareGame());
    wakeMs.push(await wakeOnce(stack, name));
  }
  return { wakeMs, bareMs };
}

export const serverWake: Goal = {
  name: "WAKE",
  title: "wake on top of the server's own start",
  run: async (bench) => {
    const { wakeMs, bareMs } = await measureWakes(bench, await bench.stack());
    const bare = median(bareMs);
    const seconds = (list: readonly number[]) => list.map((ms) => (ms / 1_000).toFixed(2)).join(" ");
    return [
      {
        goal: "WAKE",
        what: "wake -> Running beyond the bare start, p95",
        unit: "s",
        ours: (Math.max(...wakeMs) - bare) / 1_000,
        limit: { bound: "at most", of: "figure", goal: 1.5 },
        note: `wakes ${seconds(wakeMs)} s; bare ${seconds(bareMs)} s`,
      },
      {
        goal: "WAKE",
        what: "wake -> Running beyond the bare start, median",
        unit: "s",
        ours: (median(wakeMs) - bare) / 1_000,
      },
    ];
  },
};
