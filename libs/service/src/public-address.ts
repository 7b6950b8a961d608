// Whether an IP address belongs to the public internet. What connects to a host that somebody else named asks this first, so
// that a name never leads into the installation.

import { BlockList, isIPv4 } from "node:net";

const ranges: readonly [address: string, bits: number][] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
];

const internal = new BlockList();
for (const [address, bits] of ranges) {
  internal.addSubnet(address, bits, "ipv4");
}
// Only global unicast is outside; within it the ranges that carry IPv4 or belong to documentation are not.
const globalUnicast = new BlockList();
globalUnicast.addSubnet("2000::", 3, "ipv6");
for (const [address, bits] of [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const)
  internal.addSubnet(address, bits, "ipv6");

/** Whether an IP address is one of the public internet. */
export function isPublic(address: string): boolean {
  if (isIPv4(address)) return !internal.check(address, "ipv4");
  return globalUnicast.check(address, "ipv6") && !internal.check(address, "ipv6");
}
