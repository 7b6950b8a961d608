// `npm run bench`: runs goals of docs/performance.md with their anchors and prints the table.

import { parseArgs } from "node:util";
import { goals } from "./goals/index.ts";
import type { Goal } from "./harness/bench.ts";
import { peerTable } from "./harness/peer.ts";
import { table } from "./harness/report.ts";
import { runGoals } from "./harness/run.ts";
import { writeTables } from "./harness/write-report.ts";

const usage = `usage: npm run bench -- [GOAL...] [--rounds N] [--quick] [--full] [--write] [--profile DIR]
       npm run bench -- --list

Runs goals of docs/performance.md with their anchors, taking turns, and prints the table. Without a GOAL it runs all;
PEER stands for those that have a figure of the peer's.

  --rounds N     rounds of each goal, 3 unless told; a goal may ask for more
  --quick        short windows: shows that all works, not for judging
  --full         the longest form of goals that have one
  --write        puts the tables into docs/performance.md
  --profile DIR  leaves CPU profiles of the fixture's services in DIR
  --list         names the goals

The exit code is 0 whatever the figures are, and 1 when a benchmark could not run.`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: "string", default: "3" },
    quick: { type: "boolean", default: false },
    full: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
    profile: { type: "string" },
    list: { type: "boolean", default: false },
    help: { type: "boolean", short: "h", default: false },
  },
});

if (values.help) {
  console.log(usage);
  process.exit(0);
}

// G22 stands for G22-GATEWAY as well, and a goal that is measured along with another one for that one.
const matches = (goal: Goal, name: string) =>
  goal.name === name || goal.name.startsWith(`${name}-`) || (goal.covers?.includes(name) ?? false);
const wanted = positionals.map((name) => name.toUpperCase());
const unknown = wanted.filter((name) => !goals.some((goal) => matches(goal, name)));
const rounds = Number(values.rounds);
if (unknown.length > 0 || !Number.isInteger(rounds) || rounds < 1) {
  console.error(
    unknown.length > 0
      ? `there is no goal ${unknown.join(", ")}; there are ${goals.map(({ name }) => name).join(", ")}`
      : "--rounds takes a whole number from 1 on",
  );
  process.exit(1);
}
if (values.list) {
  for (const { name, title } of goals) console.log(`${name.padEnd(13)}${title}`);
  process.exit(0);
}
const chosen = goals.filter((goal) => wanted.length === 0 || wanted.some((name) => matches(goal, name)));
const outcome = await runGoals(chosen, {
  rounds,
  isQuick: values.quick,
  isFull: values.full,
  profileDir: values.profile,
});
if (values.write) {
  const isPeerAlone = wanted.length === 1 && wanted[0] === "PEER";
  writeTables({ bench: isPeerAlone ? undefined : table(outcome.rows), peer: peerTable(outcome.rows) });
}
process.exit(outcome.failed.length === 0 ? 0 : 1);
