import type { LiveLogLine } from "../api.ts";

type FramedLine = { atSeconds: number; line: Uint8Array; event?: LiveLogLine["event"] | undefined };

/** The event after which a source has nothing more; its id is its name, so that a reconnect can tell that it was seen. */
const endEvent = "end";

/**
 * A line as a server-sent event: `id:` in unix seconds, `event:` for a named one, and the line; one that holds line
 * breaks becomes several `data:` of one event.
 */
export function eventFrame({ atSeconds, line, event }: FramedLine): Buffer {
  const text = Buffer.from(line.buffer, line.byteOffset, line.byteLength).toString("utf8");
  const data = text.split(/\r\n|\r|\n/).join("\ndata: ");
  const id = event === endEvent ? endEvent : atSeconds;
  return Buffer.from(`id: ${id}\n${event === undefined ? "" : `event: ${event}\n`}data: ${data}\n\n`);
}
