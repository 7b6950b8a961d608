import { isIPv6, type Socket } from "node:net";

/**
 * Who counts as one: an IPv4 address, and of IPv6 the /64, as every subscriber has at least that many addresses.
 */
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

export type Place = "in" | "full" | "over";

/**
 * Counts connections by address. Above `max` an address is `full`: as many again may stay until they have read so, and
 * what is `over` that is closed at once.
 */
export function createAdmission(max: number): (socket: Socket, address: string) => Place {
  const counts = { in: new Map<string, number>(), full: new Map<string, number>() };
  return (socket, address) => {
    const key = addressKey(address);
    const place = (["in", "full"] as const).find((each) => (counts[each].get(key) ?? 0) < max);
    if (!place) return "over";
    const of = counts[place];
    of.set(key, (of.get(key) ?? 0) + 1);
    socket.once("close", () => {
      const left = (of.get(key) ?? 1) - 1;
      if (left > 0) of.set(key, left);
      else of.delete(key);
    });
    return place;
  };
}
