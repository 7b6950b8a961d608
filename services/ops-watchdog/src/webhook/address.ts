// Where webhooks may lead (docs/reference/webhooks.md#addresses): public hosts by https at allowed ports, and the origins
// inside that the operator names.

import { lookup, Resolver } from "node:dns/promises";
import { isIP } from "node:net";
import { isPublic } from "@svc/service/public-address";
import type { Address } from "../outgoing/post.ts";
import { UnsentError } from "./failure.ts";

export type Reach = {
  /** Ports of public hosts. */
  ports: readonly number[];
  /** Origins such as `http://chat.internal:8065` that may be reached although they are inside, or are not https. */
  inside: readonly string[];
};

type Checked = { url: URL; host: string; isInside: boolean } | { problem: string };

/** Whether an address may be called as it is written; pure. Where its name leads is checked at each connection. */
export function checkUrl(text: string, { ports, inside }: Reach): Checked {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:\/\//i.test(text))
    return { problem: "The address must be complete, such as https://chat.example.net/hook." };
  if (url.username !== "" || url.password !== "")
    return { problem: "The address must have no user name and no password." };
  const about = { url, host: url.host };
  if (inside.includes(url.origin)) return { ...about, isInside: true };
  if (url.protocol !== "https:") return { problem: "The address must begin with https://." };
  const port = url.port === "" ? 443 : Number(url.port);
  if (!ports.includes(port))
    return { problem: `The port must be ${ports.join(" or ")}; an operator can allow others.` };
  const host = hostOf(url);
  if (isIP(host) !== 0 && !isPublic(host))
    return { problem: "The address must be one of the public internet." };
  return { ...about, isInside: false };
}

/** The host without the brackets of IPv6. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "");
}

/** All addresses of a name; none when there is no such name. */
export type Resolve = (host: string, signal: AbortSignal) => Promise<string[]>;

/**
 * The addresses that one connection may be made to. Throws unless all that the name has now are public: a private one
 * among them is a name that somebody aims at it.
 */
export async function findAddresses(
  { url, isInside }: { url: URL; isInside: boolean },
  { resolve, signal }: { resolve: Resolve; signal: AbortSignal },
): Promise<Address[]> {
  const host = hostOf(url);
  if (isIP(host) !== 0) {
    if (!isInside && !isPublic(host)) throw new UnsentError("private_address", "it is a private address");
    return [toAddress(host)];
  }
  if (isInside) {
    const found = await lookup(host, { all: true });
    return found.map(({ address }) => toAddress(address));
  }
  const found = await resolve(host, signal);
  if (found.length === 0) throw new UnsentError("no_address", "its name has no address");
  if (!found.every((address) => isPublic(address)))
    throw new UnsentError("private_address", "its name leads to a private address");
  return found.map(toAddress);
}

function toAddress(address: string): Address {
  return { address, family: isIP(address) === 6 ? 6 : 4 };
}

/**
 * Asks DNS without the thread pool of the process, which names that are answered slowly would fill, and without the
 * machine's own names and search domains.
 */
export const resolvePublic: Resolve = async (host, signal) => {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  const end = () => resolver.cancel();
  signal.addEventListener("abort", end, { once: true });
  try {
    const found = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    return found.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
  } finally {
    signal.removeEventListener("abort", end);
  }
};
