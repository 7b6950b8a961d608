// Which addresses a channel may reach: what is inside of an installation does not take orders from a setting by accident
// (docs/reference/alerts.md#channels).

import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { isPublic } from "@svc/service/public-address";

type PinnedAddress = { address: string; family: 4 | 6 };

/**
 * Resolves a host once; the caller connects to just this address. Throws unless every address of it is public, or
 * `mayBeInternal`.
 */
export async function pin(hostname: string, mayBeInternal: boolean): Promise<PinnedAddress> {
  const host = hostname.replace(/^\[|\]$/g, "");
  const found =
    isIP(host) === 0 ? await lookup(host, { all: true }) : [{ address: host, family: isIP(host) }];
  const [first] = found;
  if (!first) throw new Error(`${host} has no address`);
  if (!mayBeInternal && !found.every(({ address }) => isPublic(address)))
    throw new Error(`${host} is a private address; ops_watchdog.channels_may_be_internal allows it`);
  return { address: first.address, family: first.family === 6 ? 6 : 4 };
}
