// Server-sent events (docs/reference/console.md#stream).

/** One event of a stream: its kind, empty for a plain one, its text, and where a reader may continue, empty when not told. */
export type StreamEvent = { event: string; data: string; id: string };

/** Reads server-sent events until the stream ends; stopping early releases the stream. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamEvent> {
  // Not every browser can iterate a stream.
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + decoder.decode(value, { stream: true })).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const parsed = parse(block);
        if (parsed) yield parsed;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function parse(block: string): StreamEvent | undefined {
  let event = "";
  let id = "";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) event = line.slice(6).trim();
    else if (line.startsWith("id:")) id = line.slice(3).trim();
    else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
  }
  return event === "" && data.length === 0 ? undefined : { event, data: data.join("\n"), id };
}
