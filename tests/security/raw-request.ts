// HTTP as no client sends it, and what every refusal of the two faces must look like (docs/reference/http.md#errors, docs/reference/http.md#shared).

import assert from "node:assert/strict";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";

const longestMs = 30_000;

export type RawRequest = {
  method?: string;
  path: string;
  headers?: Record<string, string | string[]>;
  /** Sent as it is. */
  text?: string | Buffer;
  /** Sent as JSON with its content type. */
  json?: unknown;
};

export type RawResponse = {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
};

/** Sends exactly these headers to a port of 127.0.0.1 and reads the whole answer. */
export function sendRequest(port: number, question: RawRequest): Promise<RawResponse> {
  const { method = "GET", path, json } = question;
  const payload = json === undefined ? question.text : JSON.stringify(json);
  const isChunked = question.headers?.["transfer-encoding"] !== undefined;
  const headers = {
    ...(json === undefined ? {} : { "content-type": "application/json" }),
    ...(payload === undefined || isChunked ? {} : { "content-length": String(Buffer.byteLength(payload)) }),
    ...question.headers,
  };
  return new Promise((settle, fail) => {
    const where = { host: "127.0.0.1", port, method, path, headers, agent: false, timeout: longestMs };
    const request = httpRequest(where, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", fail);
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        settle({ status: response.statusCode ?? 0, headers: response.headers, text });
      });
    });
    request.on("timeout", () => request.destroy(new Error(`${method} ${path} took over ${longestMs} ms`)));
    request.on("error", fail);
    request.end(payload);
  });
}

/** Writes bytes and collects what comes until the other side closes the connection. */
export function sendBytes(port: number, bytes: string | Buffer): Promise<string> {
  return new Promise((settle, fail) => {
    const socket = connect({ host: "127.0.0.1", port });
    const chunks: Buffer[] = [];
    socket.setTimeout(longestMs, () => fail(new Error("the connection was never closed")));
    socket.on("data", (chunk) => chunks.push(chunk));
    // A reset after the answer is one way to close.
    socket.on("error", () => undefined);
    socket.on("close", () => settle(Buffer.concat(chunks).toString("latin1")));
    socket.write(bytes);
  });
}

/** Takes one answer out of raw bytes. */
export function parseResponse(raw: string): RawResponse {
  const [head = "", ...rest] = raw.split("\r\n\r\n");
  const [statusLine = "", ...lines] = head.split("\r\n");
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 2)]),
  );
  return { status: Number(statusLine.split(" ")[1]), headers, text: rest.join("\r\n\r\n") };
}

type Refusal = { status: number; code: string; says: RegExp };

/** The headers of rule 1 of docs/reference/http.md#shared, which no answer may lack. */
export function assertSecured(reply: RawResponse, about: string): void {
  const wanted = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "content-security-policy": "default-src 'none'",
  };
  for (const [name, value] of Object.entries(wanted)) {
    assert.equal(reply.headers[name], value, `${about}: ${name}`);
  }
  assert.match(String(reply.headers["x-request-id"]), /^[A-Za-z0-9._-]{1,128}$/, about);
  for (const name of ["server", "x-powered-by"]) assert.equal(reply.headers[name], undefined, about);
}

/** Checks status, code, words, envelope and headers of a refusal. Returns its message. */
export function assertRefused(reply: RawResponse, wanted: Refusal, about = ""): string {
  const said = `${about} was answered ${reply.status} ${reply.text}`;
  assert.equal(reply.status, wanted.status, said);
  assertSecured(reply, said);
  assert.equal(reply.headers["content-type"], "application/json", said);
  const body: unknown = JSON.parse(reply.text);
  assert.ok(typeof body === "object" && body !== null && "error" in body, said);
  assert.deepEqual(Object.keys(body), ["error"], said);
  const error = body.error as Record<string, unknown>;
  assert.deepEqual(Object.keys(error).sort(), ["code", "message", "request_id"], said);
  assert.equal(error["code"], wanted.code, said);
  assert.equal(error["request_id"], reply.headers["x-request-id"], said);
  const message = String(error["message"]);
  assert.match(message, wanted.says, said);
  assert.doesNotMatch(message, /node_modules|\.ts:|\bat \w+ \(|undefined|\[object/, said);
  if (reply.status === 429 || reply.status === 503) {
    assert.match(String(reply.headers["retry-after"]), /^[1-9]\d*$/, `${said}: Retry-After`);
  }
  return message;
}
