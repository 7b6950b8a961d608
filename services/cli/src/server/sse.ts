/** One event of a stream: its kind, empty for a plain one, and its text. */
export type StreamEvent = { event: string; data: string };

/** Reads server-sent events until the stream ends. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamEvent> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    const blocks = rest.split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const parsed = parse(block);
      if (parsed) yield parsed;
    }
  }
}

function parse(block: string): StreamEvent | undefined {
  let event = "";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) event = line.slice(6).trim();
    else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
  }
  return event === "" && data.length === 0 ? undefined : { event, data: data.join("\n") };
}
