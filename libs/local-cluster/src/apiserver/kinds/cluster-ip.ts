import { randomInt } from "node:crypto";
import type { KubeObject } from "../../cluster-api.ts";
import { invalid } from "../api-status.ts";
import { fieldError } from "../field-error.ts";

/** Addresses 127.96.0.0/12 for services: unique, in use as long as the service lives. */
type ClusterIps = {
  /** A free address, or the requested one; throws 422 when that one is in use or outside the range. */
  allot(wanted: string | undefined): string;
  take(address: string): void;
  release(address: string): void;
};

const first = (127 << 24) | (96 << 16);
const size = 1 << 20;
const service = { group: "", plural: "services", kind: "Service" };

/** An allocator that knows the existing services. */
export function createClusterIps(services: Iterable<KubeObject>): ClusterIps {
  const used = new Set<string>();
  // Two clusters on one machine share 127.0.0.0/8: with a random start they rarely allocate the same address.
  let next = randomInt(1, size - 1);
  let highest = 0;
  for (const { spec } of services) {
    const address = spec?.["clusterIP"];
    if (typeof address !== "string" || address === "None") continue;
    used.add(address);
    // Continuing after the highest one delays the reuse of a freed address.
    const offset = offsetOf(address);
    if (offset !== undefined) highest = Math.max(highest, offset);
  }
  if (highest > 0) next = highest + 1 >= size - 1 ? 1 : highest + 1;
  return {
    take: (address) => used.add(address),
    release: (address) => used.delete(address),
    allot: (wanted) => {
      if (wanted !== undefined) return checkWanted(wanted, used);
      for (let tries = 0; tries < size; tries += 1) {
        const offset = next;
        next = next + 1 >= size - 1 ? 1 : next + 1;
        const address = addressAt(offset);
        if (!address.endsWith(".0") && !address.endsWith(".255") && !used.has(address)) return address;
      }
      const cause = fieldError.invalid(
        "spec.clusterIPs",
        [],
        "failed to allocate a serviceIP: range is full",
      );
      throw invalid(service, "", [cause]);
    },
  };
}

function checkWanted(wanted: string, used: Set<string>): string {
  const refuse = (text: string) =>
    invalid(service, "", [fieldError.invalid("spec.clusterIPs", [wanted], text)]);
  if (offsetOf(wanted) === undefined) {
    throw refuse("failed to allocate IP: the provided IP is not in the valid range 127.96.0.0/12");
  }
  if (used.has(wanted)) throw refuse("failed to allocate IP: provided IP is already allocated");
  return wanted;
}

function addressAt(offset: number): string {
  const value = (first + offset) >>> 0;
  return [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join(".");
}

function offsetOf(address: string): number | undefined {
  const parts = address.split(".").map(Number);
  if (parts.length !== 4 || parts.some((part) => !Number.isInteger(part) || part < 0 || part > 255))
    return undefined;
  const value = parts.reduce((sum, part) => sum * 256 + part, 0);
  const offset = value - first;
  return offset > 0 && offset < size ? offset : undefined;
}
