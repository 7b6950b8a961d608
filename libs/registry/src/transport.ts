// Requests to one registry. Nothing is ever sent to another host: redirects are errors, and an address that the registry
// hands out is used only when it is on the registry itself.

import type { Readable } from "node:stream";
import { z } from "zod";
import { malformed, RegistryError } from "./error.ts";

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
export type Answer = { status: number; headers: Headers; body: AsyncIterable<Buffer> & Body };
type Body = { dump: () => Promise<void>; destroy: () => unknown };

export type Transport = {
  origin: string;
  /** Throws `RegistryError` for every status that is not expected. Whoever gets an answer reads or dumps its body. */
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
    // Loaded by the first call: services without a registry go without it.
    const { request } = await import("undici");
    const { statusCode, headers, body } = await request(`${origin}${call.path}`, {
      method: call.method,
      headers: { ...authorization, ...call.headers },
      body: call.body ?? null,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      signal: call.signal ? AbortSignal.any([call.signal, limit]) : limit,
    }).catch((cause: unknown) => {
      throw lost(`${host} does not answer ${nameOf(call)}`, cause, call.signal);
    });
    if (expected.includes(statusCode)) return { status: statusCode, headers, body };
    const said = await reasonOf(body);
    throw unexpected(statusCode, `${host} answered ${statusCode} to ${nameOf(call)}`, { headers, ...said });
  };
  return { origin, send };
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
async function reasonOf(body: Answer["body"]): Promise<{ code?: string; words?: string }> {
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
