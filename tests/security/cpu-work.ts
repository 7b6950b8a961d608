// How much work a parser does, in a way that does not depend on how fast or busy the machine is: the CPU time of this
// process, for an input and for one a quarter of its length. Linear work is four times as much, quadratic sixteen.

import assert from "node:assert/strict";
import { patience } from "@svc/local-stack/testing";

const repeats = 3;
/** Below this CPU time at the whole size nothing is compared: it is the noise of compiling and collecting. */
const quietMs = 40 * patience;
const mostGrowth = 9;
/** No parser holds up the event loop for longer, whatever the growth. */
const mostMs = 3_000 * patience;

/** A parser of outside input with the worst that may be fed to it; `size` is the largest that is admitted. */
export type Worst<T extends string | Buffer = string> = {
  readonly size: number;
  readonly input: (size: number) => T;
  readonly parse: (input: T) => unknown;
};

/** The least CPU time of some runs; a parser may refuse its input, but not take long over it. */
function cpuMs<T extends string | Buffer>(parse: (input: T) => unknown, input: T): number {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < repeats && least > quietMs / 4; run++) {
    const before = process.cpuUsage();
    try {
      parse(input);
    } catch {}
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
    if (least > mostMs) break;
  }
  return least;
}

/** Fails when the work grows faster than the input, or is too much at the largest size. */
export function assertLinear<T extends string | Buffer>({ size, input, parse }: Worst<T>): void {
  const sizes = [16, 4, 1].map((part) => Math.ceil(size / part));
  let before = 0;
  for (const each of sizes) {
    const text = input(each);
    assert.ok(text.length <= size * 1.01 + 64, `the input of ${text.length} is longer than the size says`);
    const taken = cpuMs(parse, text);
    const growth = taken / Math.max(before, quietMs / mostGrowth);
    assert.ok(taken <= mostMs, `${text.length} take ${taken} ms of CPU`);
    assert.ok(
      growth <= mostGrowth,
      `four times the input are ${growth.toFixed(1)} times the work: ${taken} ms`,
    );
    before = taken;
  }
}

/** `unit` as often as it fits, between what stands before and behind it. */
export const pumped =
  (before: string, unit: string, behind = "") =>
  (size: number): string =>
    before +
    unit.repeat(Math.max(1, Math.floor((size - before.length - behind.length) / unit.length))) +
    behind;
