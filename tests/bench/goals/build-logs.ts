// BUILD, the log: one build prints 2,000 lines a second to 50 viewers of one gateway, as VIEWERS does with a console. The CPU is that
// of gateway and bus per line and viewer, against a bare Fastify process that writes each line to as many viewers itself.
// Memory: the most that the process of builds has while four builds run and print.

import { readFileSync } from "node:fs";
import type { Bench } from "../harness/bench.ts";
import { type Child, startChild } from "../harness/child.ts";
import { closeViewers, openViewers, watchPace } from "../harness/consoles.ts";
import { residentMb, watchCpu, withDescendants } from "../harness/process-stats.ts";
import type { Row } from "../harness/report.ts";
import { interleave } from "../harness/statistics.ts";
import type { StreamPlan } from "../load/streams.ts";

const goal = "BUILD";
const viewerCount = 50;
const linesPerSecond = 2_000;
const atOnce = 4;
const sampleMs = 200;

/** Processes below this one whose command line names a program. */
function pidsOf(root: number, program: string): number[] {
  return withDescendants([root]).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(program);
    } catch {
      return false;
    }
  });
}

type Source = {
  child: Child;
  pids: readonly number[];
  names: readonly string[];
  plan: Omit<StreamPlan, "paths">;
  path: string;
};

async function watched(bench: Bench, viewers: Child, { child, pids, names, plan, path }: Source) {
  await openViewers(viewers, { ...plan, paths: Array.from({ length: viewerCount }, () => path) });
  const cpu = watchCpu(pids);
  const seconds = Math.max(2, bench.windowMs / 1_000);
  const seen = await watchPace(child, viewers, { names, perSecond: linesPerSecond, seconds });
  const us = cpu() / Math.max(1, seen.lines);
  await closeViewers(viewers);
  return { us, p99Ms: seen.p99Ms, share: seen.lines / (linesPerSecond * seconds * viewerCount) };
}

/** The most that a process has while the work goes on. */
async function peakMb(pid: number, work: () => Promise<unknown>): Promise<number> {
  let peak = 0;
  const timer = setInterval(() => {
    peak = Math.max(peak, residentMb(pid));
  }, sampleMs);
  try {
    await work();
    return peak;
  } finally {
    clearInterval(timer);
  }
}

export async function buildLogRows(bench: Bench): Promise<Row[]> {
  const fixture = await bench.fixture();
  const logDir = fixture.dir;
  const subject = await startChild("subjects/image-builds.ts", { logDir });
  const viewers = await startChild("load/streams.ts", { logDir });
  const bare = await startChild("anchors/sse.ts", { logDir, env: fixture.anchorNats });
  try {
    const ids = await subject.ask<string[]>("begin", atOnce);
    const [id = ""] = ids;
    const face = await subject.ask<Omit<StreamPlan, "paths">>("face");
    const pids = ["gateway-external", "nats-server"].flatMap((program) => pidsOf(subject.pid, program));
    const ours = { child: subject, pids, names: [id], plan: face, path: `/api/v1/images/build/${id}/logs` };
    const port = await bare.ask<number>("port");
    const anchor = {
      child: bare,
      pids: [bare.pid],
      names: [id],
      plan: { port, headers: {} },
      path: `/console/${id}`,
    };
    const found = await interleave(bench.options.rounds, {
      ours: () => watched(bench, viewers, ours),
      bare: () => watched(bench, viewers, anchor),
    });
    const [builds = 0] = pidsOf(subject.pid, "/builds.mjs");
    const seconds = Math.max(2, bench.windowMs / 1_000);
    const four = { names: ids, perSecond: linesPerSecond / atOnce, seconds };
    const peak = await peakMb(builds, async () => {
      await subject.ask("print", four);
      await subject.ask("end", ids);
    });
    const seen = `${(found.ours.share * 100).toFixed(0)} % of the lines were shown, ${(found.bare.share * 100).toFixed(0)} % by bare SSE`;
    return [
      {
        goal,
        what: "CPU per line and viewer, 2,000 lines/s of a build, 50 viewers",
        unit: "us",
        ours: found.ours.us,
        anchor: found.bare.us,
        anchorName: "bare SSE",
        limit: { bound: "at most", of: "ratio", goal: 2 },
        note: seen,
      },
      {
        goal,
        what: "line of a build -> viewer, 50 viewers, p99",
        unit: "ms",
        ours: found.ours.p99Ms,
        anchor: found.bare.p99Ms,
        anchorName: "bare SSE",
      },
      {
        goal,
        what: "memory of builds while four builds run",
        unit: "MB",
        ours: peak,
        limit: { bound: "at most", of: "figure", goal: 150 },
      },
    ];
  } finally {
    await subject.ask("close").catch(() => undefined);
    for (const child of [subject, viewers, bare]) await child.stop();
  }
}
