// Requests to one registry. Nothing is ever sent to another host: redirects are errors, and an address that the registry
// hands out is used only when it is on the registry itself.

import type { IncomingMessage } from "node:http";
import { request as httpsRequest, Agent as TlsAgent } from "node:https";
import { pipeline, Readable } from "node:stream";
import { z } from "zod";
import { malformed, RegistryError } from "./error.ts";

// An import of node:http would load the WebSocket client of Node with it: 6 MB. The first call of undici takes 25 MB.
const { Agent, request: httpRequest } = process.getBuiltinModule("node:http");

export type RegistryOptions = {
  /** Host and port as references write them. */
  host: string;
  /** HTTP without TLS. */
  plainHttp: boolean;
  /** For HTTP basic authentication. */
  credential?: { user: string; password: string } | undefined;
  /** Longest wait for an answer, and between two pieces of a blob. Default 30 s. */
  timeoutMs?: number;
  /** Names of a list that are asked for at once; default 1,000. */
  pageEntries?: number;
  /** For how long requests are repeated while the registry is unavailable, but for `getBlob` and deletions. Default 0. */
  retryForMs?: number;
};

export type Call = {
  method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  /** With the query. */
  path: string;
  headers?: Record<string, string>;
  body?: Readable | Buffer;
  /** Bytes that travel either way; they are allowed a second for each 64 KiB on top of `timeoutMs`. */
  bytes?: number;
  signal?: AbortSignal | undefined;
};

type Headers = Record<string, string | string[] | undefined>;
export type Answer = { status: number; headers: Headers; body: Body };
type Body = AsyncIterable<Buffer> & { destroy: () => unknown };

export type Transport = {
  origin: string;
  /** Throws `RegistryError` for every status that is not expected. Whoever gets an answer reads or discards its body. */
  send: (call: Call, expected: readonly number[]) => Promise<Answer>;
};

const slowestBytesPerMs = 65.536;
const defaultTimeoutMs = 30_000;

export function createTransport(options: RegistryOptions): Transport {
  const { host, plainHttp, credential, timeoutMs = defaultTimeoutMs } = options;
  const origin = `${plainHttp ? "http" : "https"}://${host}`;
  const pair = credential && Buffer.from(`${credential.user}:${credential.password}`).toString("base64");
  const authorization = pair === undefined ? {} : { authorization: `Basic ${pair}` };
  const send = async (call: Call, expected: readonly number[]): Promise<Answer> => {
    const limit = AbortSignal.timeout(timeoutMs + Math.ceil((call.bytes ?? 0) / slowestBytesPerMs));
    const response = await exchange(new URL(`${origin}${call.path}`), {
      call: { ...call, headers: { ...authorization, ...call.headers } },
      signal: call.signal ? AbortSignal.any([call.signal, limit]) : limit,
      timeoutMs,
    }).catch((cause: unknown) => {
      throw lost(`${host} does not answer ${nameOf(call)}`, cause, call.signal);
    });
    const { statusCode: status = 0, headers } = response;
    if (expected.includes(status)) return { status, headers, body: response };
    const said = await reasonOf(response);
    throw unexpected(status, `${host} answered ${status} to ${nameOf(call)}`, { headers, ...said });
  };
  return { origin, send };
}

const reused = { keepAlive: true, timeout: 4_000 };
const [plain, tls] = [new Agent(reused), new TlsAgent(reused)];

type Exchange = { call: Call; signal: AbortSignal; timeoutMs: number };

/** An answer whose body is still to come; until its end the signal breaks it off, and so does silence. */
function exchange(url: URL, { call, signal, timeoutMs }: Exchange): Promise<IncomingMessage> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const { method, headers, body } = call;
  const options = { method, headers, timeout: timeoutMs };
  const outgoing =
    url.protocol === "http:"
      ? httpRequest(url, { ...options, agent: plain })
      : httpsRequest(url, { ...options, agent: tls });
  let response: IncomingMessage | undefined;
  const abort = () => (response ?? outgoing).destroy(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  outgoing
    .once("response", (found) => {
      response = found;
      resolve(found);
    })
    .on("timeout", () => {
      // What waits for a slow reader is no silence.
      if (response && response.readableLength > 0) outgoing.setTimeout(timeoutMs);
      else (response ?? outgoing).destroy(new Error(`nothing was heard for ${timeoutMs} ms`));
    })
    .on("error", reject)
    .once("close", () => signal.removeEventListener("abort", abort));
  if (body instanceof Readable) {
    // The request that ends with it would give another reason.
    body.once("error", reject);
    pipeline(body, outgoing, () => {});
  } else outgoing.end(body);
  return promise;
}

/** The error of a connection that broke; the caller's own abort stays what it was. */
export function lost(what: string, cause: unknown, signal: AbortSignal | undefined): Error {
  if (signal?.aborted)
    return signal.reason instanceof Error ? signal.reason : new Error("aborted", { cause });
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new RegistryError("unavailable", `the registry ${what}: ${reason}`, { cause });
}

type Said = { headers: Headers; code?: string; words?: string };

function unexpected(status: number, what: string, { headers, code, words }: Said): RegistryError {
  const message = `the registry ${what}${words === undefined ? "" : ` (${words})`}`;
  if (status >= 300 && status < 400) return malformed(`${message}; redirects are not followed`);
  if (status === 401 || status === 403) return new RegistryError("denied", message, { code });
  if (status < 500 && status !== 429 && status !== 408)
    return new RegistryError("rejected", message, { code });
  const seconds = Number(headers["retry-after"]);
  return new RegistryError("unavailable", message, seconds > 0 ? { retryAfterMs: seconds * 1_000 } : {});
}

const largestReason = 4_096;
const Reason = z.object({
  errors: z.tuple(
    [z.object({ code: z.string().regex(/^[A-Z_]{1,64}$/), message: z.string().optional() })],
    z.unknown(),
  ),
});

/** What an error body of the distribution API says first; nothing of any other body. */
async function reasonOf(body: Body): Promise<{ code?: string; words?: string }> {
  try {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of body) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > largestReason) return {};
    }
    const [{ code, message = "" }] = Reason.parse(JSON.parse(Buffer.concat(chunks).toString("utf8"))).errors;
    const plain = message.replace(/[^\x20-\x7e]/g, "?").slice(0, 200);
    return { code, words: plain === "" ? code : `${code}: ${plain}` };
  } catch {
    return {};
  } finally {
    body.destroy();
  }
}

function nameOf({ method, path }: Call): string {
  return `${method} ${path.split("?")[0]}`;
}

/** A whole body of at most `most` bytes. */
export async function readBody({ body }: Answer, most: number, signal?: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > most) break;
      chunks.push(chunk);
    }
  } catch (cause) {
    throw lost("broke off its answer", cause, signal);
  }
  if (bytes > most) throw malformed(`the registry sent an answer of more than ${most} bytes`);
  return Buffer.concat(chunks);
}

/** Reads a body that nobody wants, for its connection to be used again; gives up on one that does not end soon. */
export async function discard({ body }: Answer): Promise<void> {
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > largestReason) return;
    }
  } catch {
    // Its head said everything.
  }
}

/** Path of an address that the registry hands out. */
export function pathOnRegistry(location: unknown, origin: string): string {
  if (typeof location !== "string" || !URL.canParse(location, origin))
    throw malformed("the registry named no address for an upload");
  const url = new URL(location, origin);
  // The scheme stays ours: behind a proxy a registry may not know its own.
  if (url.host !== new URL(origin).host)
    throw malformed(`the registry sent an upload to ${url.host}; other hosts are not followed`);
  return `${url.pathname}${url.search}`;
}
