import { isIPv6 } from "node:net";

/** The key of a budget by address: an IPv4 address itself, of IPv6 the /64, since each subscriber has at least one. */
export function addressKey(address: string): string {
  if (!isIPv6(address)) return address;
  // The URL parser writes every form as plain groups.
  const [left = "", right] = new URL(`http://[${address.split("%")[0]}]`).hostname.slice(1, -1).split("::");
  const groups = left === "" ? [] : left.split(":");
  const behind = right === undefined || right === "" ? [] : right.split(":");
  const zeros = new Array<string>(Math.max(0, 8 - groups.length - behind.length)).fill("0");
  const whole = right === undefined ? groups : [...groups, ...zeros, ...behind];
  return `${whole.slice(0, 4).join(":")}::/64`;
}
