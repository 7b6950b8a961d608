// What the stream of a console says.

import { createBlockParser, type EventBlock } from "../../api/event-blocks.ts";

type StreamEvent =
  | { kind: "line"; atSeconds: number; text: string }
  | { kind: "dropped"; count: number }
  | { kind: "revoked" };

/** Takes chunks as they come and gives back the events that are whole. */
export function createEventParser(): (chunk: string) => StreamEvent[] {
  const parse = createBlockParser();
  return (chunk) =>
    parse(chunk).flatMap((block) => {
      const event = eventOf(block);
      return event ? [event] : [];
    });
}

function eventOf({ name, id, data, comment }: EventBlock): StreamEvent | undefined {
  if (name === "revoked") return { kind: "revoked" };
  const dropped = /^(\d+) lines were dropped/.exec(comment);
  if (dropped) return { kind: "dropped", count: Number(dropped[1]) };
  if (data === undefined || id === "" || !Number.isFinite(Number(id))) return undefined;
  return { kind: "line", atSeconds: Number(id), text: data };
}
