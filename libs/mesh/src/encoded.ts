// Answers that their owner keeps as bytes: made and checked once, sent many times.

const json = Symbol("json");

/** A handler's answer as JSON bytes that match the output of its contract. */
export type Encoded = { readonly [json]: Uint8Array };

export function bytesOf(answer: unknown): Uint8Array | undefined {
  return typeof answer === "object" && answer !== null && json in answer
    ? (answer as Encoded)[json]
    : undefined;
}

/** A page (`page` of proto) of items that are encoded already. */
export function encodedPage(items: readonly Uint8Array[], next: string | undefined): Encoded {
  const parts: Uint8Array[] = [Buffer.from('{"items":[')];
  for (const [index, item] of items.entries()) {
    if (index > 0) parts.push(comma);
    parts.push(item);
  }
  parts.push(Buffer.from(next === undefined ? "]}" : `],"next":${JSON.stringify(next)}}`));
  return { [json]: Buffer.concat(parts) };
}

const comma = Buffer.from(",");
