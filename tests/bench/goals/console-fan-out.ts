// G13: 1000 SSE viewers on 1000 consoles, each printing one line a second, through the bus. Ours: 1000 log reads of one
// lifecycle, 1000 subjects in NATS, kept in files, one real gateway; its CPU is that of all three. Anchors: a bare Fastify
// process that prints into its own responses, and the same process behind one bus hop, a plain NATS message for each line
// with the same client. The goal for CPU is 3x what an SSE write (20 us where the goals were made) and a NATS delivery
// (15 us) cost together, which is 5.25x the write of this run, for gateway and bus; what the follower costs besides is
// told, because nothing in the anchor does its work. Delays are held against the bus hop. Memory is that of a gateway
// that has served nobody before.

import type { Bench, Goal } from "../harness/bench.ts";
import type { Child } from "../harness/child.ts";
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

async function bare(bench: Bench, consoles: Consoles, source: Child): Promise<Figures> {
  const plan = { names, perSecond: 1, seconds: Math.max(3, bench.windowMs / 1_000) };
  const cpu = watchCpu([consoles.bare.pid]);
  const seen = await watchPace(source, consoles.viewers, plan);
  return { ...seen, us: cpu() / seen.lines, busUs: 0, followUs: 0 };
}

/** Kilobytes by which a fresh gateway grows for each viewer, with lines on the way. */
async function memoryPerViewer(bench: Bench, fixture: Fixture, consoles: Consoles): Promise<number> {
  const gateway = await fixture.freshExternal();
  try {
    const { viewers, headers } = consoles;
    const before = residentMb(gateway.pid);
    await openViewers(viewers, { port: gateway.port, paths: paths("/api/v1/servers/", "/console"), headers });
    await ours(bench, fixture, consoles);
    const kilobytes = ((residentMb(gateway.pid) - before) * 1_024) / count;
    await closeViewers(viewers);
    return kilobytes;
  } finally {
    await gateway.stop();
  }
}

const paths = (before: string, after = "") => names.map((name) => `${before}${name}${after}`);

function rowsOf(found: { ours: Figures; bare: Figures; hop: Figures }, kilobytes: number): Row[] {
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
      anchor: found.hop.p99Ms,
      anchorName: "one bus hop -> bare SSE",
      limit: { bound: "at most", of: "ratio", goal: 2 },
      note: `p50 ${found.ours.p50Ms.toFixed(1)} ms, one hop ${found.hop.p50Ms.toFixed(1)}; no hop p99 ${found.bare.p99Ms.toFixed(1)}`,
    },
    {
      goal: "G13",
      what: "memory of a fresh gateway per viewer",
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
      const kilobytes = await memoryPerViewer(bench, fixture, consoles);
      const { port } = fixture.external;
      await openViewers(viewers, { port, paths: paths("/api/v1/servers/", "/console"), headers });
      await ours(bench, fixture, consoles);
      await openViewers(viewers, { port: consoles.bare.port, paths: paths("/console/"), headers });
      await bare(bench, consoles, consoles.bare);
      const found = await interleave(bench.options.rounds, {
        ours: () => ours(bench, fixture, consoles),
        bare: () => bare(bench, consoles, consoles.bare),
        hop: () => bare(bench, consoles, consoles.publisher),
      });
      await closeViewers(viewers);
      return rowsOf(found, kilobytes);
    } finally {
      await consoles.stop();
    }
  },
};
