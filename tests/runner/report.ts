// The end of a run: the failed tests again, totals, the slowest files and the failed ones.

import type { Batch } from "./order.ts";
import type { Result } from "./reporter.ts";

/** A batch that has ended. */
export type Ended = Partial<Result> & {
  batch: Batch;
  seconds: number;
  /** Why it counts as failed; undefined when it passed. */
  problem: string | undefined;
};

const slowestFiles = 12;
const countNames = ["tests", "passed", "failed", "cancelled", "skipped", "todo"] as const;

/** The files of a batch that failed: all that did not pass where its process ended early. */
function failedOf({ batch, problem, files = [] }: Ended): string[] {
  if (problem === undefined) return [];
  const passed = files.filter(({ isPassed }) => isPassed).map(({ file }) => file);
  const failed = batch.filter((file) => !passed.includes(file));
  return failed.length > 0 ? failed : [...batch];
}

const sumOf = (all: readonly Ended[], name: string) =>
  all.reduce((total, { counts }) => total + (counts?.[name] ?? 0), 0);

/** Whether everything passed. A run that found no test has shown nothing. */
export function isGreen(all: readonly Ended[]): boolean {
  return all.every(({ problem }) => problem === undefined) && sumOf(all, "tests") > 0;
}

/** The text at the end of a run. */
export function endOfRun(all: readonly Ended[], wallSeconds: number): string {
  const failed = all.filter(({ problem }) => problem !== undefined);
  const repeated = failed.map(
    (ended) => `\n${failedOf(ended).join(", ")} ${ended.problem}${ended.failures ?? ""}`,
  );
  const totals = countNames.map((name) => `${sumOf(all, name)} ${name}`).join(", ");
  // A batch of one file has a process, which takes its time too.
  const files = all.flatMap(({ batch, seconds, files = [] }) =>
    batch.length === 1 ? batch.map((file) => ({ file, seconds })) : files,
  );
  const slowest = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, slowestFiles);
  const lines = slowest.map(({ file, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${file}`);
  const count = all.reduce((total, { batch }) => total + batch.length, 0);
  return [
    ...repeated,
    `\n${count} files, ${totals} in ${Math.round(wallSeconds)} s`,
    ...(count > slowestFiles ? [`The slowest:\n${lines.join("\n")}`] : []),
    ...(sumOf(all, "tests") === 0 ? ["\nFAILED: no test ran; does its name match the pattern?"] : []),
    ...failed.flatMap(({ reasons = [] }) => reasons).map((reason) => `\n✖ ${reason}`),
    ...(failed.length > 0 ? [`\nFAILED: ${failed.flatMap(failedOf).join(", ")}`] : []),
  ].join("\n");
}
