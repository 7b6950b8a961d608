// A GET of an address that somebody else named. Each address is judged first, also those of redirects; a name is resolved once
// and the connection goes to just the address that was checked, so that no name leads into the installation.

import { lookup } from "node:dns/promises";
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { type Address, pinnedLookup } from "./pinned-lookup.ts";
import { isPublic } from "./public-address.ts";

/** `isInside`: the operator named it as it stands, so a public address is not asked of it. */
export type Judged = { url: URL; isInside: boolean } | { problem: string };

/** Of tests, whose servers are on this machine. */
export type TestNetwork = {
  resolve: (host: string) => Promise<Address[]>;
  isPublic: (address: string) => boolean;
  ca: string;
};

export type Getting = {
  /** Judges an address as it is written. `problem` is a sentence. */
  judge: (address: string) => Judged;
  userAgent: string;
  /** Redirects that are followed. */
  mostRedirects: number;
  /** Longest wait for an answer and between two pieces of it. */
  stallMs: number;
  signal: AbortSignal;
  network?: TestNetwork | undefined;
};

export type Got = {
  status: number;
  /** Bytes that are announced; undefined when the answer does not say. */
  length: number | undefined;
  retryAfter: string | undefined;
  /** Read it to its end or `close` it. Throws `SourceUnavailable`. */
  body: AsyncGenerator<Buffer>;
  close: () => void;
};

/** What is not allowed, or leads nowhere: asking again has the same answer. The message is a sentence. */
export class SourceRefused extends Error {
  override readonly name = "SourceRefused";
}

/** Asking again, or another address, may have another answer. The message is a sentence. */
export class SourceUnavailable extends Error {
  override readonly name = "SourceUnavailable";
}

type Allowed = Exclude<Judged, { problem: string }>;

const redirects = [301, 302, 303, 307, 308];

/** Any answer that is no redirect. Throws `SourceRefused`, `SourceUnavailable`, and the reason of `signal`. */
export async function guardedGet(address: string, getting: Getting): Promise<Got> {
  const first = getting.judge(address);
  if ("problem" in first) throw new SourceRefused(first.problem);
  let allowed = first;
  for (let hops = 0; ; hops += 1) {
    const response = await ask(allowed, getting);
    if (!redirects.includes(response.statusCode ?? 0))
      return answered(response, { host: allowed.url.host, signal: getting.signal });
    response.destroy();
    if (hops === getting.mostRedirects) throw tooManyRedirects(first.url, hops);
    allowed = follow(allowed, response.headers.location ?? "", getting);
  }
}

function tooManyRedirects({ host }: URL, most: number): SourceRefused {
  return new SourceRefused(
    most === 0
      ? `${host} redirects, which is not followed here.`
      : `${host} redirects more than ${most} times.`,
  );
}

function follow({ url }: Allowed, location: string, { judge }: Getting): Allowed {
  if (location === "" || !URL.canParse(location, url.href))
    throw new SourceRefused(`${url.host} redirects to no address.`);
  const next = judge(new URL(location, url.href).href);
  if ("problem" in next) throw new SourceRefused(`${url.host} redirects elsewhere. ${next.problem}`);
  return next;
}

type Answering = { host: string; signal: AbortSignal };

function answered(response: IncomingMessage, answering: Answering): Got {
  const { statusCode: status = 0, headers } = response;
  const length = /^\d{1,15}$/.test(headers["content-length"] ?? "")
    ? Number(headers["content-length"])
    : undefined;
  return {
    status,
    length,
    retryAfter: headers["retry-after"],
    body: readBody(response, answering),
    close: () => response.destroy(),
  };
}

async function* readBody(
  response: IncomingMessage,
  { host, signal }: Answering,
): AsyncGenerator<Buffer, void, undefined> {
  try {
    for await (const chunk of response) {
      signal.throwIfAborted();
      yield chunk as Buffer;
    }
    if (!response.complete) throw new Error("the connection was closed");
  } catch (error) {
    signal.throwIfAborted();
    throw new SourceUnavailable(`${host}: ${(error as Error).message}.`);
  } finally {
    response.destroy();
  }
}

/** A name of which any address is inside is refused, so that no answer's order matters. */
async function pin({ url, isInside }: Allowed, network: TestNetwork | undefined): Promise<Address> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const resolve = network?.resolve ?? ((name: string) => lookup(name, { all: true }));
  const found =
    isIP(host) === 0
      ? await resolve(host).catch((error: Error) => {
          throw new SourceUnavailable(`${host} is not resolved: ${error.message}.`);
        })
      : [{ address: host, family: isIP(host) }];
  const isOutside = network?.isPublic ?? isPublic;
  if (!isInside && !found.every(({ address }) => isOutside(address)))
    throw new SourceRefused(`${host} leads to a private address.`);
  const [first] = found;
  if (!first) throw new SourceUnavailable(`${host} has no address.`);
  return first;
}

async function ask(allowed: Allowed, getting: Getting): Promise<IncomingMessage> {
  const { url } = allowed;
  const { userAgent, stallMs, signal, network } = getting;
  const address = await pin(allowed, network);
  signal.throwIfAborted();
  const { request } =
    url.protocol === "https:" ? await import("node:https") : process.getBuiltinModule("node:http");
  return new Promise((resolve, reject) => {
    let answer: IncomingMessage | undefined;
    const asked = request(url, {
      lookup: pinnedLookup([address]),
      headers: { "user-agent": userAgent, accept: "*/*", "accept-encoding": "identity" },
      // A connection of its own, so that none is used for another host of the same address.
      agent: false,
      timeout: stallMs,
      signal,
      // No variable of the environment may weaken it. The name of the address is verified, not where it led.
      ...{ rejectUnauthorized: true, minVersion: "TLSv1.2" as const },
      ...(network && { ca: network.ca }),
    });
    asked.once("response", (response: IncomingMessage) => {
      answer = response;
      resolve(response);
    });
    const silence = stallMs < 1_000 ? `${stallMs} ms` : `${Math.round(stallMs / 1_000)} s`;
    asked.on("timeout", () => (answer ?? asked).destroy(new Error(`sent nothing for ${silence}`)));
    asked.on("error", (error) =>
      reject(signal.aborted ? signal.reason : new SourceUnavailable(`${url.host}: ${error.message}.`)),
    );
    asked.end();
  });
}
