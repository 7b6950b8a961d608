// What a history covers. Pure.

import type { Input, Output } from "../api/operations.ts";
import type { Span } from "./chart.ts";

export type ServerHistory = Output<"histories.readServer">;
export type Range = NonNullable<Input<"histories.readServer">["range"]>;

export const ranges: readonly Range[] = ["24h", "7d", "30d"];

/** The range that an address names; a day when it names none that exists. */
export function rangeOf(query: Readonly<Record<string, unknown>>): Range {
  return ranges.find((range) => range === query["range"]) ?? "24h";
}

type Head = { from: string; step_seconds: number };

/** From the start of the first step to the end of the last. */
export function spanOf(history: Head & { players: readonly unknown[] }): Span {
  const from = Date.parse(history.from);
  return { from, to: from + history.players.length * history.step_seconds * 1_000 };
}

/** Nothing at all is known of the time: not even a phase. */
export function isQuiet({ phases, players, memory_bytes, tps }: ServerHistory): boolean {
  return (
    phases.length === 0 && [players, memory_bytes, tps].every((series) => series.every((one) => one === null))
  );
}
