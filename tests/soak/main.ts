// `npm run soak`: real load on a stack of this machine for as long as it is told, then what grew (docs/soak.md).

import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { connectKube } from "@svc/kube";
import pg from "pg";
import { startStack } from "../flow/stack.ts";
import { prepare, runLoad, type Tally } from "./load.ts";
import { kindOf, report, type Series, toleranceOf } from "./report.ts";
import { takeSample } from "./sample.ts";
import { trendOf } from "./trend.ts";

const usage = `usage: npm run soak -- [--minutes N] [--every SECONDS] [--out DIR]

Starts a stack of its own, lets players, owners and operators work on it, reads what it holds again and again, and says
which of it grew. Exit code: 0 nothing grew that should not, 1 something did or the load failed, 2 bad arguments.

  --minutes N      how long the load goes on; 20 unless told
  --every SECONDS  between two readings; 10 unless told
  --out DIR        where the report and all readings go; .cache/soak unless told`;

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "20" },
    every: { type: "string", default: "10" },
    out: { type: "string", default: resolve(import.meta.dirname, "../../.cache/soak") },
    help: { type: "boolean", short: "h", default: false },
  },
});
const [minutes, everySeconds] = [Number(values.minutes), Number(values.every)];
if (values.help || !(minutes > 0) || !(everySeconds > 0)) {
  (values.help ? console.log : console.error)(
    values.help ? usage : `--minutes and --every take a number above 0\n\n${usage}`,
  );
  process.exit(values.help ? 0 : 2);
}

// With scheduled backups, unlike the stacks of tests.
const settings = [
  "lifecycle.stop_notice=0s",
  "lifecycle.wake_cooldown=0s",
  "storage.auto_backup_interval=2m",
];
const stack = await startStack(settings.flatMap((setting) => ["--set", setting]));
const db = new pg.Client({ connectionString: stack.file().database_url });
const kube = connectKube({ kubeconfigFile: stack.file().kubeconfig });
const stopping = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopping.abort());
const series: Series = new Map();
let tally: Tally = new Map();
try {
  await db.connect();
  await stack.becomeOwner();
  await prepare(stack);
  const end = AbortSignal.any([stopping.signal, AbortSignal.timeout(minutes * 60_000)]);
  const load = runLoad(stack, end);
  while (!end.aborted) {
    const sample = await takeSample({ file: stack.file(), dataDir: stack.dataDir, db, kube });
    const atMs = Date.now();
    for (const [name, value] of sample) {
      const readings = series.get(name) ?? [];
      series.set(name, readings);
      readings.push({ atMs, value });
    }
    await pause(everySeconds * 1_000, undefined, { signal: end }).catch(() => undefined);
  }
  tally = await load;
} finally {
  kube.close();
  await db.end().catch(() => undefined);
  await stack.stop();
}
const trends = [...series].map(([name, readings]) => ({
  name,
  kind: kindOf(name),
  ...trendOf(readings, toleranceOf(name)),
}));
const { text, isPassed } = report(trends, tally, minutes);
mkdirSync(values.out, { recursive: true });
writeFileSync(join(values.out, "report.md"), text);
writeFileSync(join(values.out, "readings.json"), JSON.stringify([...series]));
console.log(text);
process.exit(isPassed ? 0 : 1);
