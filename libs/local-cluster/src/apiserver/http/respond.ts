import type { ServerResponse } from "node:http";
import { ApiStatus } from "../api-status.ts";
import { itemBytes, type ListPage } from "../registry/listing.ts";
import { apiVersionOf, type ResourceType } from "../resource-type.ts";

const chunkBytes = 256 * 1024;

/** Sends a JSON value. */
export function sendJson(response: ServerResponse, code: number, value: unknown): void {
  sendBytes(response, code, Buffer.from(JSON.stringify(value)));
}

/** Sends encoded JSON. */
export function sendBytes(response: ServerResponse, code: number, bytes: Buffer): void {
  response.writeHead(code, { "content-type": "application/json", "content-length": bytes.length });
  response.end(bytes);
}

/** Sends a plain text. */
export function sendText(response: ServerResponse, code: number, text: string): void {
  response.writeHead(code, { "content-type": "text/plain; charset=utf-8" });
  response.end(text);
}

/** Sends an error as a Status; an unknown error is a 500 whose text is withheld. */
export function sendFault(response: ServerResponse, error: unknown): void {
  const status =
    error instanceof ApiStatus
      ? error
      : new ApiStatus(500, "InternalError", {
          message: "Internal error occurred: the local cluster failed; see its log",
        });
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  if (status.details.retryAfterSeconds) response.setHeader("retry-after", status.details.retryAfterSeconds);
  // The rest of an unread body must not be parsed as the next request.
  if (status.code === 413) response.setHeader("connection", "close");
  sendJson(response, status.code, status);
}

/** Streams a page of a list from the stored JSON of each item. */
export async function sendList(response: ServerResponse, type: ResourceType, page: ListPage): Promise<void> {
  const metadata = {
    resourceVersion: String(page.version),
    ...(page.next ? { continue: page.next } : {}),
    ...(page.remaining ? { remainingItemCount: page.remaining } : {}),
  };
  const head = JSON.stringify({ kind: type.listKind, apiVersion: apiVersionOf(type), metadata });
  response.writeHead(200, { "content-type": "application/json" });
  let pending: Buffer[] = [Buffer.from(`${head.slice(0, -1)},"items":[`)];
  let size = 0;
  for (const [index, stored] of page.items.entries()) {
    const bytes = itemBytes(type, stored);
    if (index > 0) pending.push(comma);
    pending.push(bytes);
    size += bytes.length;
    if (size < chunkBytes) continue;
    if (!(await write(response, Buffer.concat(pending)))) return;
    pending = [];
    size = 0;
  }
  pending.push(Buffer.from("]}\n"));
  response.end(Buffer.concat(pending));
}

const comma = Buffer.from(",");

/** Writes and waits until the buffer drains; false when the client has disconnected. */
export async function write(response: ServerResponse, bytes: Buffer): Promise<boolean> {
  if (response.destroyed) return false;
  if (response.write(bytes)) return true;
  await new Promise<void>((resolve) => {
    const done = () => {
      response.off("drain", done);
      response.off("close", done);
      resolve();
    };
    response.on("drain", done);
    response.on("close", done);
  });
  return !response.destroyed;
}
