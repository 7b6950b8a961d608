// The owner's byte transfer port (docs/reference/byte-transfers.md#ticket): bytes bypass NATS; each ticket is valid once.

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { type AddressInfo, isIP } from "node:net";
import { type ByteTransferTicket, Fault, faults, isFault } from "@svc/proto";
import type { Logger } from "@svc/telemetry";
import type { ByteDownload, ByteTransfers, ByteUpload } from "../api.ts";
import { watchSource } from "./stall.ts";
import { written } from "./written.ts";

// An import of node:http would load the WebSocket client of Node with it: 6 MB.
const { createServer } = process.getBuiltinModule("node:http");

const defaultTtlMs = 60_000;
const defaultStallMs = 120_000;
const openLimit = 10_000;

type Open =
  | { kind: "download"; work: ByteDownload; tokenHash: Buffer; expiry: NodeJS.Timeout }
  | { kind: "upload"; work: ByteUpload; tokenHash: Buffer; expiry: NodeJS.Timeout };

export type ByteTransferServer = {
  byteTransfers: ByteTransfers;
  /** Waits for the transfers under way. */
  idle: () => Promise<void>;
  close: () => Promise<void>;
};

/** Starts the port. `host` is the name or address that gateways dial, with `:port` when it is fixed. */
export async function startByteTransferServer(options: {
  host: string;
  log: Logger;
}): Promise<ByteTransferServer> {
  const open = new Map<string, Open>();
  const running = new Set<Promise<void>>();
  const server = createServer((request, response) => {
    const work = transfer(open, { request, response, log: options.log }).finally(() => running.delete(work));
    running.add(work);
  });
  // Uploads may take any time; stalled ones are aborted by the watch below.
  server.requestTimeout = 0;
  server.headersTimeout = 10_000;
  const base = await listen(server, options.host);

  const add = (
    opened: { kind: "download"; work: ByteDownload } | { kind: "upload"; work: ByteUpload },
  ): ByteTransferTicket => {
    if (open.size >= openLimit) throw new Fault("overloaded", { retryAfterSeconds: 1 });
    const id = randomBytes(12).toString("base64url");
    const token = randomBytes(32).toString("base64url");
    const expiry = setTimeout(() => open.delete(id), opened.work.ttlMs ?? defaultTtlMs);
    expiry.unref();
    open.set(id, { ...opened, tokenHash: hashOf(token), expiry });
    return {
      url: `${base}/lanes/${id}`,
      token,
      headers: opened.kind === "download" ? opened.work.headers : {},
    };
  };
  return {
    byteTransfers: {
      download: (work) => add({ kind: "download", work }),
      upload: (work) => add({ kind: "upload", work }),
    },
    idle: async () => {
      while (running.size > 0) await Promise.all(running);
    },
    close: async () => {
      for (const { expiry } of open.values()) clearTimeout(expiry);
      open.clear();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      await Promise.all(running);
    },
  };
}

async function listen(server: Server, host: string): Promise<string> {
  const { hostname, port } = new URL(
    `http://${host.includes("::") && !host.startsWith("[") ? `[${host}]` : host}`,
  );
  const address = hostname.replace(/^\[|\]$/g, "");
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    // A name stands for an address of this machine that we do not know, so the port is open on all addresses.
    server.listen(
      { port: port === "" ? 0 : Number(port), ...(isIP(address) ? { host: address } : {}) },
      resolve,
    );
  });
  return `http://${hostname}:${(server.address() as AddressInfo).port}`;
}

function hashOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

type Exchange = { request: IncomingMessage; response: ServerResponse; log: Logger };

async function transfer(open: Map<string, Open>, exchange: Exchange): Promise<void> {
  const { request, response, log } = exchange;
  const found = claim(open, request);
  if (!found)
    return refuse(
      exchange,
      new Fault("forbidden", { message: "This byte transfer is unknown, used or expired." }),
    );
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  try {
    if (found.kind === "download") await sendDownload(exchange, found.work, gone.signal);
    else await receiveUpload(exchange, found.work, gone.signal);
  } catch (error) {
    if (gone.signal.aborted || response.headersSent) {
      if (!gone.signal.aborted) log.warn({ err: error }, "byte transfer failed while sending");
      response.destroy();
      return;
    }
    if (!isFault(error)) log.error({ err: error }, "byte transfer failed unexpectedly");
    refuse(exchange, isFault(error) ? error : new Fault("internal"));
  }
}

// The first use of a token revokes it, whatever the outcome of the transfer.
function claim(open: Map<string, Open>, request: IncomingMessage): Open | undefined {
  const id = /^\/lanes\/([A-Za-z0-9_-]+)$/.exec(request.url ?? "")?.[1];
  const found = id === undefined ? undefined : open.get(id);
  const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1];
  if (id === undefined || !found || token === undefined) return undefined;
  const method = found.kind === "download" ? "GET" : "PUT";
  if (request.method !== method || !timingSafeEqual(found.tokenHash, hashOf(token))) return undefined;
  clearTimeout(found.expiry);
  open.delete(id);
  return found;
}

async function sendDownload(exchange: Exchange, download: ByteDownload, gone: AbortSignal): Promise<void> {
  const { response } = exchange;
  const stop = new AbortController();
  const source = download.source(AbortSignal.any([gone, stop.signal]))[Symbol.asyncIterator]();
  // A source that fails before its first byte is answered with a fault; later the connection can only be closed.
  let result = await source.next();
  response.writeHead(200, { "content-type": "application/octet-stream", ...lengthOf(download) });
  const onStall = () => {
    stop.abort();
    response.destroy(new Error("the receiver stopped reading"));
  };
  try {
    for (; !result.done; result = await source.next())
      await written(response, result.value, { stallMs: defaultStallMs, onStall });
  } finally {
    if (!result.done) await source.return?.();
  }
  await new Promise<void>((settle) => response.once("close", settle).end(settle));
}

// The reader of a body in chunks has to take it apart again.
function lengthOf({ headers }: ByteDownload): { "content-length"?: string } {
  const name = Object.keys(headers).find((one) => one.toLowerCase() === "content-length");
  return name === undefined ? {} : { "content-length": headers[name] ?? "" };
}

async function receiveUpload(exchange: Exchange, upload: ByteUpload, gone: AbortSignal): Promise<void> {
  const { request, response } = exchange;
  const length = request.headers["content-length"];
  const digest = request.headers["content-digest"];
  const onStall = () => request.destroy(new Error("the sender stopped sending"));
  const over = new AbortController();
  const watch = { onStall, over: over.signal };
  const body = watchSource(bodyOf(request), upload.stallMs ?? defaultStallMs, watch);
  const about = {
    contentLength: length === undefined ? undefined : Number(length),
    contentDigest: typeof digest === "string" ? digest : undefined,
    trailerDigest: () => request.trailers["content-digest"],
  };
  // A watch that outlived its transfer would end the next request of this connection.
  const answer = await upload.receive(body, about, gone).finally(() => over.abort());
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(answer ?? null));
  // The rest of the body is drained, so that the answer is not lost in a connection reset.
  request.resume();
}

// A reader that stops early still answers, and the rest of the body is drained before the next request of the connection.
async function* bodyOf(request: IncomingMessage): AsyncGenerator<Uint8Array> {
  try {
    yield* request.iterator({ destroyOnReturn: false });
  } finally {
    request.resume();
  }
}

function refuse({ request, response }: Exchange, fault: Fault): void {
  const { status } = faults[fault.fault];
  response.writeHead(status, { "content-type": "application/json" });
  response.end(
    JSON.stringify({ fault: fault.fault, message: fault.message, retry_after: fault.retryAfterSeconds }),
  );
  request.resume();
}
