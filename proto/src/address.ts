import { isIPv6 } from "node:net";

/**
 * The key of a budget by address: an IPv4 address itself, also where a socket of both families writes it as IPv6; of IPv6 the /64, since
 * each subscriber has at least one.
 */
export function addressKey(address: string): string {
  if (!isIPv6(address)) return address;
  // The URL parser writes every form as plain groups.
  const [left = "", right] = new URL(`http://[${address.split("%")[0]}]`).hostname.slice(1, -1).split("::");
  const groups = left === "" ? [] : left.split(":");
  const behind = right === undefined || right === "" ? [] : right.split(":");
  const zeros = new Array<string>(Math.max(0, 8 - groups.length - behind.length)).fill("0");
  const whole = right === undefined ? groups : [...groups, ...zeros, ...behind];
  const [high = 0, low = 0] = whole.slice(6).map((group) => Number.parseInt(group, 16));
  if (whole.slice(0, 6).join(":") === "0:0:0:0:0:ffff")
    return [high >> 8, high & 255, low >> 8, low & 255].join(".");
  return `${whole.slice(0, 4).join(":")}::/64`;
}
