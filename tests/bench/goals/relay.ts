// The proxy's relay between a player and a server (issue 6): packets a second and time of a round trip, against a bare
// TCP relay in the same run. Player and server are the same process on both sides. Unfair would be: a server that waits
// for the relay on one side only, or frames that the relay may pass unlooked at (an id is read of every one).

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Arena, Goal } from "../harness/bench.ts";
import { type Child, startChild } from "../harness/child.ts";
import { interleave } from "../harness/numbers.ts";
import { watchCpu } from "../harness/proc.ts";
import type { Row } from "../harness/report.ts";
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

const anchorName = "bare TCP relay";

async function flood(arena: Arena, players: Players, packet: FloodPlan["packet"]): Promise<Row[]> {
  const plan = { packet, durationMs: arena.windowMs };
  const found = await interleave(arena.options.rounds, {
    ours: () => pass(players, players.ours, plan),
    bare: () => pass(players, players.bare, plan),
  });
  const name = packet === "small" ? "small packets" : "pieces of world";
  const goal = packet === "small" ? 0.35 : 0.7;
  return [
    {
      ...{ goal: "RELAY", what: `${name} to a player`, unit: "packets/s", anchorName },
      ...{ ours: found.ours.perSecond, anchor: found.bare.perSecond },
      limit: { bound: "at least", of: "ratio", goal },
      note: `${found.ours.mbPerSecond.toFixed(0)} MB/s`,
    },
    {
      // What bounds the throughput once the machine has cores for both ends.
      ...{ goal: "RELAY", what: `${name} to a player, CPU of the relay`, unit: "ns", anchorName },
      ...{ ours: found.ours.nsPerPacket, anchor: found.bare.nsPerPacket },
    },
  ];
}

async function roundTrips(arena: Arena, players: Players): Promise<Row[]> {
  const count = arena.options.isQuick ? 2_000 : 10_000;
  const ask = ({ port }: Relay) => players.ends.ask<Echo>("echo", { port, count } satisfies EchoPlan);
  const found = await interleave(arena.options.rounds, {
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

export const relay: Goal = {
  name: "RELAY",
  title: "play packets through the proxy's relay",
  run: async (arena) => {
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
      const players = { ends, ours: await open("ours/relay.ts"), bare: await open("anchors/tcp-relay.ts") };
      return [
        ...(await flood(arena, players, "small")),
        ...(await flood(arena, players, "chunk")),
        ...(await roundTrips(arena, players)),
      ];
    } finally {
      for (const child of children) await child.stop();
      rmSync(logDir, { recursive: true, force: true });
    }
  },
};
