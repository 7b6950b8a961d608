// Whose PROXY headers are believed: a header says where a player comes from, so only the load balancer may send one.

import { BlockList, isIP, isIPv4 } from "node:net";
import { ConfigError } from "@svc/config";

type IsTrusted = (address: string) => boolean;

/** Reads addresses and ranges such as `10.0.0.5, 10.1.0.0/16, fd00::/8`. Throws `ConfigError` with the one that is wrong. */
export function parsePeers(text: string): IsTrusted {
  const list = new BlockList();
  for (const entry of text.split(/[\s,]+/).filter(Boolean)) add(list, entry);
  return (address) => isIP(address) !== 0 && list.check(address, isIPv4(address) ? "ipv4" : "ipv6");
}

function add(list: BlockList, entry: string): void {
  const [address = "", bits, ...rest] = entry.split("/");
  const family = isIPv4(address) ? "ipv4" : "ipv6";
  const most = family === "ipv4" ? 32 : 128;
  const isRange = bits !== undefined && /^\d{1,3}$/.test(bits) && Number(bits) <= most;
  if (isIP(address) === 0 || rest.length > 0 || (bits !== undefined && !isRange))
    throw new ConfigError(`trusted-proxies has "${entry}"; write addresses or ranges such as 10.0.0.0/8`);
  if (bits === undefined) list.addAddress(address, family);
  else list.addSubnet(address, Number(bits), family);
}
