// One GET from a checked address. The name is resolved once and the connection goes to just the address that was checked; each
// redirect is judged like the first address.

import { lookup } from "node:dns/promises";
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { isPublic } from "@svc/service/public-address";
import { type Checked, checkAddress, hostOf, type Sources } from "./address.ts";
import { DownloadError, DownloadUnavailable } from "./failure.ts";

type Getting = {
  sources: Sources;
  /** Redirects that are followed. */
  mostRedirects: number;
  /** Longest wait for an answer and between two pieces of it. */
  stallMs: number;
  signal: AbortSignal;
};

export type Got = {
  status: number;
  /** Bytes that are announced; undefined when the answer does not say. */
  length: number | undefined;
  retryAfter: string | undefined;
  /** Read it to its end or `close` it. Throws `DownloadUnavailable`. */
  body: AsyncGenerator<Buffer>;
  close: () => void;
};

const redirects = [301, 302, 303, 307, 308];
const userAgent = "svc-storage (Minecraft server platform)";

/** Throws `DownloadError` for what is not allowed, `DownloadUnavailable` for what may work later. */
export async function get(first: Checked, getting: Getting): Promise<Got> {
  let checked = first;
  for (let hops = 0; ; hops += 1) {
    const response = await ask(checked, getting);
    const { statusCode: status = 0, headers } = response;
    if (!redirects.includes(status)) return answered(response, { checked, getting });
    response.destroy();
    const { url } = checked;
    if (hops === getting.mostRedirects)
      throw new DownloadError(
        "download_failed",
        getting.mostRedirects === 0
          ? `${url.host} redirects, which is not followed here.`
          : `${first.url.host} redirects more than ${getting.mostRedirects} times.`,
      );
    const { location = "" } = headers;
    if (location === "" || !URL.canParse(location, url.href))
      throw new DownloadError("download_failed", `${url.host} redirects to no address.`);
    const next = checkAddress(new URL(location, url.href).href, getting.sources);
    if ("problem" in next)
      throw new DownloadError("download_failed", `${url.host} redirects elsewhere. ${next.problem}`);
    checked = next;
  }
}

function answered(response: IncomingMessage, about: { checked: Checked; getting: Getting }): Got {
  const { statusCode: status = 0, headers } = response;
  const length = /^\d{1,15}$/.test(headers["content-length"] ?? "")
    ? Number(headers["content-length"])
    : undefined;
  const { host } = about.checked.url;
  return {
    status,
    length,
    retryAfter: headers["retry-after"],
    body: readBody(response, { host, signal: about.getting.signal }),
    close: () => response.destroy(),
  };
}

async function* readBody(
  response: IncomingMessage,
  { host, signal }: { host: string; signal: AbortSignal },
): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of response) {
      signal.throwIfAborted();
      yield chunk as Buffer;
    }
    if (!response.complete) throw new Error("the connection was closed");
  } catch (error) {
    signal.throwIfAborted();
    throw new DownloadUnavailable(`${host}: ${(error as Error).message}.`);
  } finally {
    response.destroy();
  }
}

type Address = { address: string; family: number };

/** A name of which any address is inside is refused, so that no answer's order matters. */
async function pin({ url, isInside }: Checked): Promise<Address> {
  const host = hostOf(url);
  const found =
    isIP(host) === 0
      ? await lookup(host, { all: true }).catch((error: Error) => {
          throw new DownloadUnavailable(`${host} is not resolved: ${error.message}.`);
        })
      : [{ address: host, family: isIP(host) }];
  const inside = isInside ? undefined : found.find(({ address }) => !isPublic(address));
  if (inside) throw new DownloadError("download_failed", `${host} leads to a private address.`);
  const [first] = found;
  if (!first) throw new DownloadUnavailable(`${host} has no address.`);
  return first;
}

async function ask(checked: Checked, { stallMs, signal }: Getting): Promise<IncomingMessage> {
  const { url } = checked;
  const { address, family } = await pin(checked);
  signal.throwIfAborted();
  const { request } =
    url.protocol === "https:" ? await import("node:https") : process.getBuiltinModule("node:http");
  return new Promise((resolve, reject) => {
    let answer: IncomingMessage | undefined;
    const asked = request(url, {
      lookup: (_host, options, found) =>
        options.all ? found(null, [{ address, family }]) : found(null, address, family),
      headers: { "user-agent": userAgent, accept: "*/*", "accept-encoding": "identity" },
      // A connection of its own, so that none is used for another host of the same address.
      agent: false,
      timeout: stallMs,
      signal,
      // No variable of the environment may weaken it. The name of the address is verified, not where it led.
      ...{ rejectUnauthorized: true, minVersion: "TLSv1.2" as const },
    });
    asked.once("response", (response: IncomingMessage) => {
      answer = response;
      resolve(response);
    });
    const silent = `sent nothing for ${Math.round(stallMs / 1_000)} s`;
    asked.on("timeout", () => (answer ?? asked).destroy(new Error(silent)));
    asked.on("error", (error) =>
      reject(signal.aborted ? signal.reason : new DownloadUnavailable(`${url.host}: ${error.message}.`)),
    );
    asked.end();
  });
}
