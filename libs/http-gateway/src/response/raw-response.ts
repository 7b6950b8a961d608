// Responses to malformed requests, written on the socket because Node made no request of them (docs/reference/http.md#shared).

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type FaultName, faults } from "@svc/proto";
import { requestIdOf } from "../request/request-state.ts";
import { commonHeaders } from "./headers.ts";
import { envelope } from "./response.ts";

// An import of node:http would load the WebSocket client of Node with it: 6 MB.
const { STATUS_CODES } = process.getBuiltinModule("node:http");

type RawRefusal = { status: number; code: string; message: string };

const incompleteFaults = new WeakMap<IncomingMessage, FaultName>();

/** Sets the fault to respond with when the body of this request ends before its declared length. */
export function setIncompleteFault(request: IncomingMessage, fault: FaultName): void {
  incompleteFaults.set(request, fault);
}

const currentOf = (socket: Socket) => (socket as { _httpMessage?: ServerResponse | null })._httpMessage;

/** The refusal for a parse error of the HTTP server; undefined when the caller is gone. */
export function refusalOfParseError(code: string | undefined, socket: Socket): RawRefusal | undefined {
  if (code === "ECONNRESET" || code === "EPIPE") return undefined;
  const current = currentOf(socket)?.req;
  const fault = current && incompleteFaults.get(current);
  if (code === "HPE_INVALID_EOF_STATE" && fault) {
    const { status, code: wireCode, message } = faults[fault];
    return { status, code: wireCode, message };
  }
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return { status: 408, code: "bad_request", message: "The request headers took too long to arrive." };
  }
  if (code === "HPE_HEADER_OVERFLOW") {
    return { status: 431, code: "bad_request", message: "The request headers are over 16 KiB." };
  }
  if (code === "HPE_CHUNK_EXTENSIONS_OVERFLOW") {
    return { status: 413, code: "too_large", message: "The chunk extensions of the body are too large." };
  }
  return { status: 400, code: "bad_request", message: "The request is not valid HTTP." };
}

/** Writes the refusal and closes the connection. Returns the request id. */
export function sendRaw(socket: Socket, refusal: RawRefusal, headers: readonly string[] = []): string {
  const id = requestIdOf(undefined);
  const current = currentOf(socket);
  if (current && !current.writableFinished && (current.req.complete || current.headersSent)) {
    // Bytes behind a request that is still being answered: a second response now would be read as the first.
    if (current.req.complete) current.once("close", () => socket.destroy());
    else socket.destroy();
    return id;
  }
  if (!socket.writable) {
    socket.destroy();
    return id;
  }
  const body = envelope(refusal.code, refusal.message, id);
  const all = [
    ...commonHeaders(id, undefined),
    "Content-Type",
    "application/json",
    "Content-Length",
    String(body.byteLength),
    "Connection",
    "close",
    ...headers,
  ];
  let head = `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status] ?? ""}\r\n`;
  for (let index = 0; index < all.length; index += 2) head += `${all[index]}: ${all[index + 1]}\r\n`;
  socket.end(Buffer.concat([Buffer.from(`${head}\r\n`), body]), () => socket.destroy());
  return id;
}
