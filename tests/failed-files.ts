// A reporter of node:test that writes the file of every failed test, one a line.

type Event = { type: string; data: { file?: string } };

// biome-ignore lint/style/noDefaultExport: that is how node:test takes a reporter
export default async function* failedFiles(events: AsyncIterable<Event>): AsyncGenerator<string, void> {
  const told = new Set<string>();
  for await (const { type, data } of events) {
    if (type !== "test:fail" || data.file === undefined || told.has(data.file)) continue;
    told.add(data.file);
    yield `${data.file}\n`;
  }
}
