// G27: what callers notice while one of two replicas is killed or hangs for 20 s, at 20 requests a second; G27-ZONE: while each
// server of NATS and each second replica is killed in turn, and then all of a zone for 10 s. The work and the checks (nothing
// lost, nothing doubled) are those of two files of tests/fault, which are run as they are; this reads the figures that they
// print. There is no anchor: the goals are bounds on what a caller waits.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { root } from "../harness/anchors.ts";
import type { Goal } from "../harness/bench.ts";
import type { Row } from "../harness/report.ts";

const replicaFile = "tests/fault/availability.sampled.test.ts";
const zoneFile = "tests/fault/zone.sampled.test.ts";
const title = /^# Subtest: (\S+ (?:is killed|hangs for 20 s))/;
const figures = /^# (reads|changes): (\d+) of (\d+), p50 (\d+) ms, p99 (\d+) ms, max (\d+) ms/;

/** The output of the test, which fails when an answer was late, wrong, lost or doubled. */
async function runTest(file: string): Promise<string> {
  const child = spawn(process.execPath, ["--test-reporter=tap", join(root, file)], {
    cwd: root,
    env: { ...process.env, SVC_TESTS: "whole" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += String(chunk);
  });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${file} failed:\n${output.slice(-4_000)}`);
  return output;
}

function rowsOf(goal: string, output: string): Row[] {
  const rows: Row[] = [];
  // Diagnostics come behind the title of their test.
  let what = "";
  for (const text of output.split("\n").map((line) => line.trim())) {
    what = title.exec(text)?.[1] ?? what;
    const [, kind, answered, sent, p50, p99, longest] = figures.exec(text) ?? [];
    if (kind === undefined) continue;
    const isKill = what.endsWith("killed");
    const isRead = kind === "reads";
    rows.push({
      goal,
      what: `${what}: ${kind}, ${isRead && isKill ? "longest" : "p99"}`,
      unit: "s",
      ours: Number(isRead && isKill ? longest : p99) / 1_000,
      limit: { bound: "at most", of: "figure", goal: isRead ? 1.5 : 3, stretch: 0.5 },
      note: `${answered} of ${sent} answered, p50 ${p50} ms, longest ${longest} ms`,
    });
  }
  return rows;
}

export const replicaLoss: Goal = {
  name: "G27",
  startsUnknown: true,
  title: "one of two replicas killed or hung",
  run: async () => rowsOf("G27", await runTest(replicaFile)),
};

export const zoneLoss: Goal = {
  name: "G27-ZONE",
  startsUnknown: true,
  title: "every process and a whole zone killed, with three servers of NATS",
  run: async () => rowsOf("G27-ZONE", await runTest(zoneFile)),
};
