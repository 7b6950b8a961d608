import type { LookupFunction } from "node:net";

/** `family`: 4 or 6. */
export type Address = { address: string; family: number };

/**
 * The `lookup` of a connection that goes to addresses which were checked, at least one, whatever their name leads to by then
 * (docs/reference/webhooks.md#addresses). It answers in a turn of its own: where there is no route a connection fails at once, and
 * Node would throw that error before it has told the request of the connection, which ends the process.
 */
export function pinnedLookup(addresses: readonly Address[]): LookupFunction {
  const [first] = addresses;
  return (_host, { all }, found) => {
    setImmediate(() => {
      if (!first) found(new Error("no address"), "");
      else if (all) found(null, [...addresses]);
      else found(null, first.address, first.family);
    });
  };
}
