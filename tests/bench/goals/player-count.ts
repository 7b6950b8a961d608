// G11: counting the players of 10,000 running servers. Ours: passes of the shipped reconciler with at most 200 sockets,
// a new connection each. Anchor: a bare RCON client with 200 at once. Both ask the same bare server in a process of its
// own. In the last round every tenth server accepts and says nothing until the probe gives up after 5 s.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Goal } from "../harness/bench.ts";
import { startChild } from "../harness/child.ts";
import { residentMb } from "../harness/process-stats.ts";
import { interleave } from "../harness/statistics.ts";
import { withReconciler } from "./reconcile-throughput.ts";

const sockets = 200;
const everyMs = 30_000;

type Places = { address: string; slowAddress: string };
type Ours = { roundMs: number; cpuUs: number; healthyMs: number };
type Bare = { roundMs: number; cpuUs: number };

export const playerCount: Goal = {
  name: "G11",
  title: "players of 10,000 servers",
  run: async (bench) => {
    const { databaseUrl } = await bench.fixture();
    const count = bench.options.isQuick ? 2_000 : 10_000;
    const logDir = mkdtempSync(join(tmpdir(), "svc-bench-rcon-"));
    // One process listens, another one is the bare client: its CPU is only the client's.
    const [server, client] = [
      await startChild("anchors/rcon.ts", { logDir }),
      await startChild("anchors/rcon.ts", { logDir }),
    ];
    try {
      return await withReconciler(databaseUrl, async (child) => {
        const places = await server.ask<Places>("listen");
        const { ours, bare } = await interleave(bench.options.rounds, {
          ours: () => child.ask<Ours>("round", { ...places, count, slowShare: 0 }),
          bare: async () => ({
            ...(await client.ask<Bare>("round", { ...places, count, sockets })),
            healthyMs: 0,
          }),
        });
        // The copy of the cluster that stands in for the API server lives in the same process and counts too.
        const memory = residentMb(child.pid);
        const hanging = await child.ask<Ours>("round", { ...places, count, slowShare: 0.1 });
        const scale = 10_000 / count;
        return [
          {
            goal: "G11",
            what: "one count, CPU",
            unit: "us",
            ours: ours.cpuUs,
            anchor: bare.cpuUs,
            anchorName: "bare RCON client",
            limit: { bound: "at most", of: "ratio", goal: 3 },
          },
          {
            goal: "G11",
            what: "counting 10,000 every 30 s",
            unit: "cores",
            ours: (ours.cpuUs * 10_000) / (everyMs * 1_000),
            limit: { bound: "at most", of: "figure", goal: 0.1, stretch: 0.03 },
          },
          {
            goal: "G11",
            what: `reconciler of ${count} servers, all Running with players, resident`,
            unit: "MB",
            ours: memory,
            limit: { bound: "at most", of: "figure", goal: 600 },
          },
          {
            goal: "G11",
            what: "one round of 10,000",
            unit: "s",
            ours: (ours.roundMs * scale) / 1_000,
            limit: { bound: "at most", of: "figure", goal: 5 },
            note: `${count} asked`,
          },
          {
            goal: "G11",
            what: "one round of 10,000 of which a tenth hangs",
            unit: "s",
            ours: (hanging.roundMs * scale) / 1_000,
            limit: { bound: "at most", of: "figure", goal: 30 },
            note: `the last healthy one after ${(hanging.healthyMs / 1_000).toFixed(1)} s`,
          },
        ];
      });
    } finally {
      await Promise.all([server.stop(), client.stop()]);
      rmSync(logDir, { recursive: true, force: true });
    }
  },
};
