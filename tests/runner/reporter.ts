// The reporter of one test file: what `spec` prints, without totals, which are those of all files (run.ts). How the file
// ended is written to SVC_TEST_RESULT.

import { writeFileSync } from "node:fs";
import { spec } from "node:test/reporters";

type Event = { type: string; data: { message?: string; file?: string; counts?: Record<string, number> } };

/** How a test file ended. */
export type Result = {
  counts: Record<string, number>;
  /** The failed tests again, as `spec` repeats them at the end. */
  failures: string;
};

const totals = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/;

// biome-ignore lint/style/noDefaultExport: that is how node:test takes a reporter
export default async function* report(events: AsyncIterable<Event>): AsyncGenerator<string, void> {
  const printer = new spec();
  for await (const event of events) {
    const { type, data } = event;
    if (type === "test:diagnostic" && totals.test(data.message ?? "")) continue;
    // `spec` repeats the failed tests when the summary is that of all files.
    printer.write(type === "test:summary" ? { type, data: { ...data, file: undefined } } : event);
    const text = String(printer.read() ?? "");
    if (type !== "test:summary") yield text;
    else writeResult({ counts: data.counts ?? {}, failures: text });
  }
}

function writeResult(result: Result): void {
  const path = process.env["SVC_TEST_RESULT"];
  if (path !== undefined) writeFileSync(path, JSON.stringify(result));
}
