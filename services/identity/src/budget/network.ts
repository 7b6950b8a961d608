// The network that one client controls: its IPv4 address, or the first groups of an IPv6 address.

import { isIPv6 } from "node:net";

/** `groups` of 16 bits: 4 for a /64, 3 for a /48. Anything but IPv6 is its own network. */
export function networkOf(address: string, groups: number): string {
  if (!isIPv6(address)) return address;
  const [head = "", tail] = (address.split("%")[0] ?? "").toLowerCase().split("::");
  const left = wordsOf(head);
  const right = tail === undefined ? [] : wordsOf(tail);
  const filled = [...left, ...Array<string>(Math.max(0, 8 - left.length - right.length)).fill("0"), ...right];
  return `${filled.slice(0, groups).join(":")}::/${groups * 16}`;
}

// Leading zeros do not count, and an IPv4 tail stands for the last two groups, which no network here has.
function wordsOf(text: string): string[] {
  if (text === "") return [];
  return text
    .split(":")
    .flatMap((word) => (word.includes(".") ? ["0", "0"] : [Number.parseInt(word, 16).toString(16)]));
}
