// A reporter of node:test that writes a line for every file: `failed <file>` with its first failed test, and
// `took <ms> <file>` when it has ended.

type Event = { type: string; data: { file?: string; duration_ms?: number } };

// biome-ignore lint/style/noDefaultExport: that is how node:test takes a reporter
export default async function* fileReport(events: AsyncIterable<Event>): AsyncGenerator<string, void> {
  const told = new Set<string>();
  for await (const { type, data } of events) {
    if (data.file === undefined) continue;
    if (type === "test:summary") yield `took ${Math.round(data.duration_ms ?? 0)} ${data.file}\n`;
    if (type !== "test:fail" || told.has(data.file)) continue;
    told.add(data.file);
    yield `failed ${data.file}\n`;
  }
}
