import { randomInt } from "node:crypto";

/** Addresses by their number: 127.64.0.0/12 unless a cluster is configured otherwise. */
type Range = { first: number; size: number };
const LOOPBACK: Range = { first: 0x7f400000, size: 1 << 20 };

export type AddressPool = {
  /** The address of a pod; the same one until it is released. `known` is the one it had before, if any. */
  take(uid: string, known: string | undefined): string;
  release(uid: string): void;
};

function format(address: number): string {
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 0xff).join(".");
}

/** The addresses of a network such as `10.244.0.0/16`. */
export function rangeOf(network: string): Range {
  const [address = "", bits = "32"] = network.split("/");
  const first = address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
  return { first, size: 2 ** (32 - Number(bits)) };
}

/**
 * Allocates addresses, of 127.64.0.0/12 as a rule, which Linux accepts without any setup. They start at a random one and
 * move on, so that neither two clusters on one machine nor an old and a new pod share one.
 */
export function createAddressPool({ first, size }: Range = LOOPBACK): AddressPool {
  const byPod = new Map<string, string>();
  const taken = new Set<string>();
  let next = randomInt(size);
  const fresh = (): string => {
    for (let tries = 0; tries < size; tries += 1) {
      next = (next + 1) % size;
      const last = next & 0xff;
      const address = format(first + next);
      if (last !== 0 && last !== 255 && !taken.has(address)) return address;
    }
    throw new Error("all pod addresses are taken; delete pods and try again");
  };
  return {
    take: (uid, known) => {
      const address = byPod.get(uid) ?? known ?? fresh();
      byPod.set(uid, address);
      taken.add(address);
      return address;
    },
    release: (uid) => {
      const address = byPod.get(uid);
      byPod.delete(uid);
      if (address !== undefined) taken.delete(address);
    },
  };
}
