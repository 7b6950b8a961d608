// The end of a run: the failed tests again, totals, the slowest files and the failed ones.

import type { Result } from "./reporter.ts";

/** A test file that has ended. */
export type Ended = Partial<Result> & {
  file: string;
  seconds: number;
  /** Why it counts as failed; undefined when it passed. */
  problem: string | undefined;
};

const slowestFiles = 12;
const countNames = ["tests", "passed", "failed", "cancelled", "skipped", "todo"] as const;

/** The text at the end of a run. */
export function endOfRun(all: readonly Ended[], wallSeconds: number): string {
  const failed = all.filter(({ problem }) => problem !== undefined);
  const repeated = failed.map(({ file, problem, failures = "" }) => `\n${file} ${problem}${failures}`);
  const sum = (name: string) => all.reduce((total, { counts }) => total + (counts?.[name] ?? 0), 0);
  const totals = countNames.map((name) => `${sum(name)} ${name}`).join(", ");
  const slowest = all.toSorted((a, b) => b.seconds - a.seconds).slice(0, slowestFiles);
  const lines = slowest.map(({ file, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${file}`);
  return [
    ...repeated,
    `\n${all.length} files, ${totals} in ${Math.round(wallSeconds)} s`,
    ...(all.length > slowestFiles ? [`The slowest:\n${lines.join("\n")}`] : []),
    ...(failed.length > 0 ? [`\nFAILED: ${failed.map(({ file }) => file).join(", ")}`] : []),
  ].join("\n");
}
