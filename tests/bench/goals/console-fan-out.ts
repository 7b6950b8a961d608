// G13: 1000 SSE viewers on 1000 consoles, each printing one line a second, through the bus. Ours: 1000 log reads of one
// lifecycle, 1000 subjects in NATS, kept in files, one real gateway; its CPU is that of all three. Anchor: a bare Fastify
// process that prints into its own responses. The goal is 3x what an SSE write (20 us where the goals were made) and a NATS
// delivery (15 us) cost together, which is 5.25x the write of this run, for gateway and bus; what the follower costs
// besides is told, because nothing in the anchor does its work.

import type { Bench, Goal } from "../harness/bench.ts";
import { type Consoles, closeViewers, openViewers, startConsoles, watchPace } from "../harness/consoles.ts";
import type { Fixture } from "../harness/fixture.ts";
import { residentMb, watchCpu } from "../harness/process-stats.ts";
import type { Row } from "../harness/report.ts";
import { interleave } from "../harness/statistics.ts";

const count = 1_000;
const names = Array.from({ length: count }, (_, n) => `bench-many-${n}`);

type Figures = { lines: number; p50Ms: number; p99Ms: number; us: number; busUs: number; followUs: number };

async function ours(bench: Bench, fixture: Fixture, consoles: Consoles): Promise<Figures> {
  const plan = { names, perSecond: 1, seconds: Math.max(3, bench.windowMs / 1_000) };
  const cpu = watchCpu([fixture.external.pid]);
  const busCpu = watchCpu([fixture.natsPid]);
  const followCpu = watchCpu([consoles.lifecycle.pid]);
  const seen = await watchPace(consoles.cluster, consoles.viewers, plan);
  const busUs = busCpu() / seen.lines;
  return { ...seen, us: cpu() / seen.lines + busUs, busUs, followUs: followCpu() / seen.lines };
}

async function bare(bench: Bench, consoles: Consoles): Promise<Figures> {
  const plan = { names, perSecond: 1, seconds: Math.max(3, bench.windowMs / 1_000) };
  const cpu = watchCpu([consoles.bare.pid]);
  const seen = await watchPace(consoles.bare, consoles.viewers, plan);
  return { ...seen, us: cpu() / seen.lines, busUs: 0, followUs: 0 };
}

function rowsOf(found: { ours: Figures; bare: Figures }, kilobytes: number): Row[] {
  const anchorName = "bare SSE";
  return [
    {
      goal: "G13",
      what: "CPU per line, gateway and bus, 1000 consoles",
      unit: "us",
      ours: found.ours.us,
      anchor: found.bare.us,
      anchorName,
      limit: { bound: "at most", of: "ratio", goal: 5.25, stretch: 3.5 },
      note: `bus ${found.ours.busUs.toFixed(0)} us of it; the follower besides ${found.ours.followUs.toFixed(0)} us`,
    },
    {
      goal: "G13",
      what: "line -> viewer, 1000 consoles, p99",
      unit: "ms",
      ours: found.ours.p99Ms,
      anchor: found.bare.p99Ms,
      anchorName,
      limit: { bound: "at most", of: "ratio", goal: 2 },
    },
    {
      goal: "G13",
      what: "memory of the gateway per viewer",
      unit: "KB",
      ours: kilobytes,
      limit: { bound: "at most", of: "figure", goal: 60 },
    },
  ];
}

export const consoleFanOut: Goal = {
  name: "G13",
  title: "1000 viewers of 1000 consoles",
  run: async (bench) => {
    const fixture = await bench.fixture();
    const consoles = await startConsoles(fixture);
    const { viewers, headers } = consoles;
    try {
      const before = residentMb(fixture.external.pid);
      const paths = names.map((name) => `/api/v1/servers/${name}/console`);
      await openViewers(viewers, { port: fixture.external.port, paths, headers });
      await ours(bench, fixture, consoles);
      const kilobytes = ((residentMb(fixture.external.pid) - before) * 1_024) / count;
      await openViewers(viewers, {
        port: consoles.bare.port,
        paths: names.map((name) => `/console/${name}`),
        headers,
      });
      await bare(bench, consoles);
      const found = await interleave(bench.options.rounds, {
        ours: () => ours(bench, fixture, consoles),
        bare: () => bare(bench, consoles),
      });
      await closeViewers(viewers);
      return rowsOf(found, kilobytes);
    } finally {
      await consoles.stop();
    }
  },
};
