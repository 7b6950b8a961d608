// Feeds list the released versions of a component (docs/reference/updates.md#feeds).

import { z } from "zod";
import type { Feed } from "./decide.ts";

const Document = z.object({
  versions: z.array(z.string().max(64)).max(10_000),
  note: z.string().max(500).optional(),
});
const maxBytes = 1_048_576;

/** Reads a feed over http or https; an empty address means no feed. */
export async function readFeed(url: string, timeoutMs: number): Promise<Feed> {
  if (url === "") return { kind: "none" };
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs), redirect: "follow" });
    if (!response.ok) throw new Error(`the feed answered ${response.status}`);
    const document = Document.safeParse(JSON.parse(await textOf(response)));
    if (!document.success) throw new Error("the feed is not {versions: [...]}");
    return { kind: "read", value: document.data };
  } catch (error) {
    return { kind: "failed", error: `${(error as Error).message}`.slice(0, 300) };
  }
}

async function textOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > maxBytes) throw new Error("the feed is larger than 1 MiB");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
