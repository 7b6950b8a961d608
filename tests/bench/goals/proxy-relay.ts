// The proxy's relay between a player and a server: bytes a second and time of a round trip, against a bare
// TCP relay in the same run. Player and server are the same process on both sides. Unfair would be: a server that waits
// for the relay on one side only, or frames that the relay may pass unlooked at (an id is read of every one).
// Then the round trip of a player beside servers that mean harm.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Bench, Goal } from "../harness/bench.ts";
import { type Child, startChild } from "../harness/child.ts";
import { watchCpu } from "../harness/process-stats.ts";
import type { Row } from "../harness/report.ts";
import { interleave } from "../harness/statistics.ts";
import type { Echo, EchoPlan, Flood, FloodPlan } from "../load/relay.ts";

type Relay = Child & { port: number };
type Players = { ends: Child; ours: Relay; bare: Relay };

async function pass({ ends }: Players, relay: Relay, plan: Omit<FloodPlan, "port">) {
  const cpu = watchCpu([relay.pid]);
  const { packets, bytes, seconds } = await ends.ask<Flood>("flood", { port: relay.port, ...plan });
  return {
    perSecond: packets / seconds,
    mbPerSecond: bytes / seconds / 1e6,
    nsPerPacket: (cpu() * 1e3) / packets,
  };
}

const burstMs = 4_000;
const anchorName = "bare TCP relay";

async function flood(bench: Bench, players: Players, packet: FloodPlan["packet"]): Promise<Row[]> {
  const plan = { packet, durationMs: bench.windowMs };
  const found = await interleave(bench.options.rounds, {
    ours: () => pass(players, players.ours, plan),
    bare: () => pass(players, players.bare, plan),
  });
  const name = packet === "small" ? "small packets" : "pieces of world";
  const goal = packet === "small" ? 0.35 : 0.7;
  return [
    {
      ...{ goal: "RELAY", what: `${name} to a player`, unit: "MB/s", anchorName },
      ...{ ours: found.ours.mbPerSecond, anchor: found.bare.mbPerSecond },
      limit: { bound: "at least", of: "ratio", goal },
      note: `${(found.ours.perSecond / 1e6).toFixed(2)} million packets a second`,
    },
    {
      // What bounds the throughput once the machine has cores for both ends.
      ...{ goal: "RELAY", what: `${name} to a player, CPU of the relay`, unit: "ns", anchorName },
      ...{ ours: found.ours.nsPerPacket, anchor: found.bare.nsPerPacket },
    },
  ];
}

/**
 * Round trips of a player beside hostile servers and without them, in one relay. Their first second is not measured: it is
 * what each connection may cost at once. Unfair would be: hostile servers that are slower than the relay lets them be.
 */
async function besideHostile(bench: Bench, start: (file: string) => Promise<Child>): Promise<Row[]> {
  const [ends, hostile, ours] = [
    await start("load/relay.ts"),
    await start("load/hostile.ts"),
    await start("subjects/relay.ts"),
  ];
  const port = await ours.ask<number>("openAsUsual", await ends.ask<number>("serverPort"));
  const hostilePort = await ours.ask<number>("openAsUsual", await hostile.ask<number>("serverPort"));
  const plan: EchoPlan = { port, count: bench.options.isQuick ? 2_000 : 10_000 };
  const found = await interleave(bench.options.rounds, {
    alone: async () => ({ ...(await ends.ask<Echo>("echo", plan)), cores: 0 }),
    beside: async () => {
      await hostile.ask("attack", hostilePort);
      await delay(burstMs);
      const cpu = watchCpu([ours.pid]);
      const startedAt = performance.now();
      const echo = await ends.ask<Echo>("echo", plan);
      const cores = cpu() / 1e3 / (performance.now() - startedAt);
      await hostile.ask("calm");
      return { ...echo, cores };
    },
  });
  const common = { goal: "RELAY", unit: "us", anchorName: "without them" };
  return [
    {
      ...{ ...common, what: "round trip beside hostile servers, p50" },
      ...{ ours: found.beside.p50Us, anchor: found.alone.p50Us },
      limit: { bound: "at most", of: "ratio", goal: 1.5 },
      note: `${found.beside.cores.toFixed(2)} cores of the relay`,
    },
    {
      ...{ ...common, what: "round trip beside hostile servers, p99" },
      ...{ ours: found.beside.p99Us, anchor: found.alone.p99Us },
    },
  ];
}

async function roundTrips(bench: Bench, players: Players): Promise<Row[]> {
  const count = bench.options.isQuick ? 2_000 : 10_000;
  const ask = ({ port }: Relay) => players.ends.ask<Echo>("echo", { port, count } satisfies EchoPlan);
  const found = await interleave(bench.options.rounds, {
    ours: () => ask(players.ours),
    bare: () => ask(players.bare),
  });
  const common = { goal: "RELAY", unit: "us", anchorName };
  return [
    {
      ...{ ...common, what: "round trip of a small packet, p50" },
      ...{ ours: found.ours.p50Us, anchor: found.bare.p50Us },
      limit: { bound: "at most", of: "ratio", goal: 1.2 },
    },
    {
      ...{ ...common, what: "round trip of a small packet, p99" },
      ...{ ours: found.ours.p99Us, anchor: found.bare.p99Us },
    },
  ];
}

export const proxyRelay: Goal = {
  name: "RELAY",
  title: "play packets through the proxy's relay",
  run: async (bench) => {
    const logDir = mkdtempSync(join(tmpdir(), "svc-bench-relay-"));
    const children: Child[] = [];
    const start = async (file: string) => {
      const child = await startChild(file, { logDir });
      children.push(child);
      return child;
    };
    try {
      const ends = await start("load/relay.ts");
      const serverPort = await ends.ask<number>("serverPort");
      const open = async (file: string): Promise<Relay> => {
        const child = await start(file);
        return { ...child, port: await child.ask<number>("open", serverPort) };
      };
      const players = {
        ends,
        ours: await open("subjects/relay.ts"),
        bare: await open("anchors/tcp-relay.ts"),
      };
      return [
        ...(await flood(bench, players, "small")),
        ...(await flood(bench, players, "chunk")),
        ...(await roundTrips(bench, players)),
        ...(await besideHostile(bench, start)),
      ];
    } finally {
      for (const child of children) await child.stop();
      rmSync(logDir, { recursive: true, force: true });
    }
  },
};
