// Lists that their owner pages because a NATS message holds at most 1 MiB: fetched page by page and joined as bytes.

import type { CallOptions, Mesh } from "@svc/mesh";
import type { Operation } from "@svc/proto";
import type { Fields } from "../request/input.ts";
import { sendAnswer } from "../response/response.ts";
import type { Binding } from "./call.ts";

const opening = Buffer.from('{"items":[');
const nextMark = Buffer.from('],"next":"');
const separator = Buffer.from(",");

/** Items of one page as the bytes between the brackets, and the cursor of the next page. */
type Page = { items: Buffer; next: string | undefined };

/** Cuts a page of `{"items":[…],"next":"…"}` without parsing its items; any other spelling is parsed. */
export function cutPage(body: Uint8Array): Page {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  if (bytes.subarray(0, opening.length).equals(opening)) {
    const page = cutAtNext(bytes) ?? cutAtEnd(bytes);
    if (page) return page;
  }
  const parsed = JSON.parse(bytes.toString()) as { items: unknown[]; next?: string };
  return { items: Buffer.from(JSON.stringify(parsed.items).slice(1, -1)), next: parsed.next };
}

function cutAtNext(bytes: Buffer): Page | undefined {
  const mark = bytes.lastIndexOf(nextMark);
  if (mark < opening.length - 1) return undefined;
  // The mark may belong to an item; then what follows is not the end of the page.
  const rest = bytes.toString("utf8", mark + nextMark.length - 1);
  if (!/^"(?:[^"\\]|\\.)*"\}$/.test(rest)) return undefined;
  return { items: bytes.subarray(opening.length, mark), next: JSON.parse(rest.slice(0, -1)) };
}

// A page that ends in `]}` ends in the items, or in a member that no page has: then it is parsed instead.
function cutAtEnd(bytes: Buffer): Page | undefined {
  if (bytes.toString("utf8", bytes.length - 2) !== "]}") return undefined;
  return { items: bytes.subarray(opening.length, bytes.length - 2), next: undefined };
}

/** `{"<name>":[items,…]}` of all chunks, and the total when it is a page; empty chunks are left out. */
export function joinItems(name: string, chunks: Iterable<Uint8Array>, page?: { total: number }): Buffer {
  const parts: Uint8Array[] = [Buffer.from(`{${JSON.stringify(name)}:[`)];
  for (const chunk of chunks) {
    if (chunk.byteLength === 0) continue;
    if (parts.length > 1) parts.push(separator);
    parts.push(chunk);
  }
  parts.push(Buffer.from(page ? `],"total":${page.total}}` : "]}"));
  return Buffer.concat(parts);
}

export type Collect = (input: Fields, options: CallOptions) => Promise<Buffer>;

/** Fetches all pages from the owner. Throws an Error after `mostPages`. */
export function pageCollector(mesh: Pick<Mesh, "forward">, contract: Operation, mostPages: number): Collect {
  const name = contract.http.collect ?? "items";
  return async (input, options) => {
    const chunks: Buffer[] = [];
    let cursor: string | undefined;
    for (let pages = 0; pages < mostPages; pages++) {
      const asked = cursor === undefined ? input : { ...input, cursor };
      const page = cutPage((await mesh.forward(contract, asked, options)).body);
      chunks.push(page.items);
      if (page.next === undefined) return joinItems(name, chunks);
      cursor = page.next;
    }
    throw new Error(`${contract.subject} returned ${mostPages} pages and still has a cursor`);
  };
}

export function pagedListBinding(collect: Collect, contract: Operation): Binding {
  const { status } = contract.http;
  return async ({ state, input, options }) => {
    await sendAnswer(state, status, await collect(input, options));
  };
}
