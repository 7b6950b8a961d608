// Addresses and ports of the network in which policies are tried.

import type { Pod } from "./pods.ts";
import type { PlacedPod } from "./rules.ts";

/** What a part of svc or a cluster may listen at, and some that nothing should be reached at. */
export const ports = [
  ...[22, 25, 53, 80, 443, 587, 2_222, 4_222, 5_000, 5_432, 6_222, 6_443, 8_080, 8_081, 9_090],
  ...[25_565, 25_575, 40_000],
];

/** Places outside the cluster: whoever connects has an address to connect from, the others listen. */
export const outside = {
  player: { source: "203.0.113.9", target: undefined },
  internet: { source: undefined, target: "93.184.216.34" },
  "API server": { source: undefined, target: "10.96.0.1" },
  "metadata service": { source: undefined, target: "169.254.169.254" },
  "neighbouring machine": { source: "192.168.1.7", target: "192.168.1.8" },
} as const;

export function place(pods: readonly Pod[]): PlacedPod[] {
  return pods.map((pod, index) => ({
    ...pod,
    source: `10.244.1.${index + 1}`,
    target: `10.244.2.${index + 1}`,
  }));
}
