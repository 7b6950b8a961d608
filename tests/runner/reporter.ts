// The reporter of one batch: what `spec` prints, without totals, which are those of all files (run.ts). How the files ended is
// written to SVC_TEST_RESULT.

import { writeFileSync } from "node:fs";
import { spec } from "node:test/reporters";
import { shortReason } from "./reason.ts";

type Event = {
  type: string;
  data: {
    name?: string;
    nesting?: number;
    details?: { duration_ms: number; error?: Error & { failureType?: string } };
    message?: string;
    counts?: Record<string, number>;
  };
};

/** How the files of a batch ended. */
export type Result = {
  /** The files that have ended. */
  files: { file: string; seconds: number; isPassed: boolean }[];
  /** Undefined until all its tests have ended. */
  counts?: Record<string, number>;
  /** The failed tests, as `spec` repeats them at the end. */
  failures: string;
  /** The same in a line each: what a short excerpt of the end still shows. */
  reasons: string[];
};

const totals = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/;

// biome-ignore lint/style/noDefaultExport: that is how node:test takes a reporter
export default async function* report(events: AsyncIterable<Event>): AsyncGenerator<string, void> {
  const printer = new spec();
  const failed: Event[] = [];
  const files: Result["files"] = [];
  for await (const event of events) {
    const { type, data } = event;
    const isEnd = type === "test:pass" || type === "test:fail";
    if (type === "test:fail") failed.push(event);
    if (isEnd && data.nesting === 0) files.push(fileOf(event));
    if (type === "test:summary") writeResult({ ...resultOf(files, failed), counts: data.counts ?? {} });
    // A batch may be killed before its summary.
    else if (type === "test:fail" || (isEnd && data.nesting === 0)) writeResult(resultOf(files, failed));
    if (type === "test:summary" || (type === "test:diagnostic" && totals.test(data.message ?? ""))) continue;
    printer.write(event);
    yield String(printer.read() ?? "");
  }
}

function resultOf(files: Result["files"], failed: readonly Event[]): Result {
  return { files, failures: repeat(failed), reasons: failed.flatMap(reasonOf) };
}

/** A file is a suite at the top (load.ts). */
function fileOf({ type, data }: Event): Result["files"][number] {
  const { name = "", details } = data;
  return { file: name, seconds: (details?.duration_ms ?? 0) / 1_000, isPassed: type === "test:pass" };
}

/** What `spec` prints of failed tests at the end of a run. */
function repeat(failed: readonly Event[]): string {
  if (failed.length === 0) return "";
  const printer = new spec();
  for (const event of failed) printer.write(event);
  printer.read();
  printer.write({ type: "test:summary", data: {} });
  return String(printer.read() ?? "");
}

/** Nothing for a suite, which fails with its tests. */
function reasonOf({ data: { name = "", details } }: Event): string[] {
  const { failureType, cause } = details?.error ?? {};
  if (failureType === "subtestsFailed") return [];
  const message = cause instanceof Error ? cause.message : String(cause ?? details?.error?.message);
  return [`${name}: ${shortReason(message)}`];
}

function writeResult(result: Result): void {
  const path = process.env["SVC_TEST_RESULT"];
  if (path !== undefined) writeFileSync(path, JSON.stringify(result));
}
