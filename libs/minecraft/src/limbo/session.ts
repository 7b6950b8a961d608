import type { Limbo, LimboOptions } from "./limbo.ts";

/** Makes the worlds; nothing is serialized before the first player of a version, or `prepare`. */
export function createLimbo(options: LimboOptions = {}): Limbo {
  throw new TypeError(`limbo worlds land within minutes: ${JSON.stringify(options)}`);
}
