// Server-sent events out of chunks of text.

/** One event or comment as it was sent. */
export type EventBlock = { name: string; id: string; data: string | undefined; comment: string };

/** Takes chunks as they come and gives back the blocks that are whole. */
export function createBlockParser(): (chunk: string) => EventBlock[] {
  let rest = "";
  return (chunk) => {
    rest += chunk;
    const blocks = rest.split("\n\n");
    rest = blocks.pop() ?? "";
    return blocks.map(blockOf);
  };
}

function blockOf(text: string): EventBlock {
  const data: string[] = [];
  const block = { name: "", id: "", comment: "" };
  for (const line of text.split("\n")) {
    const [, field = "", value = ""] = /^([a-z]*):? ?(.*)$/s.exec(line) ?? [];
    if (field === "data") data.push(value);
    else if (field === "id") block.id = value;
    else if (field === "event") block.name = value;
    else if (field === "") block.comment = value;
  }
  return { ...block, data: data.length === 0 ? undefined : data.join("\n") };
}
