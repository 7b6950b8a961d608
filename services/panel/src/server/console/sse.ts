// Server-sent events out of chunks of text (the parts of the format that svc sends).

export type StreamEvent =
  | { kind: "line"; atSeconds: number; text: string }
  | { kind: "dropped"; count: number }
  | { kind: "revoked" };

/** Takes chunks as they come and gives back the events that are whole. */
export function createEventParser(): (chunk: string) => StreamEvent[] {
  let rest = "";
  return (chunk) => {
    rest += chunk;
    const blocks = rest.split("\n\n");
    rest = blocks.pop() ?? "";
    return blocks.flatMap((block) => {
      const event = eventOf(block);
      return event ? [event] : [];
    });
  };
}

function eventOf(block: string): StreamEvent | undefined {
  const data: string[] = [];
  let atSeconds = Number.NaN;
  for (const line of block.split("\n")) {
    const [, name = "", value = ""] = /^([a-z]*):? ?(.*)$/s.exec(line) ?? [];
    if (name === "data") data.push(value);
    else if (name === "id") atSeconds = Number(value);
    else if (name === "event" && value === "revoked") return { kind: "revoked" };
    else if (name === "") {
      const dropped = /^(\d+) lines were dropped/.exec(value);
      if (dropped) return { kind: "dropped", count: Number(dropped[1]) };
    }
  }
  if (data.length === 0 || !Number.isFinite(atSeconds)) return undefined;
  return { kind: "line", atSeconds, text: data.join("\n") };
}
