import type { Socket } from "node:net";
import { addressKey } from "@svc/proto/address";

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
