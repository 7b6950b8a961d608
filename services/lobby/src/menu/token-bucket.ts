// The proxy lets each player's frames through at a pace (burst 96, then 10 a second; behaviour.md r.2) and drops the
// rest without a word. The lobby stays below it, and keeps some for what a player clicks.

import type { PaceRules } from "../config.ts";

export type Pace = { readonly tokens: number; readonly at: number };

export function fullPace(rules: PaceRules, now: number): Pace {
  return { tokens: rules.burst, at: now };
}

/** What is left after one frame; undefined when it has to wait. Questions leave `reserved` for clicks. */
export function spend(
  pace: Pace,
  { now, rules, isQuestion }: { now: number; rules: PaceRules; isQuestion: boolean },
): Pace | undefined {
  const elapsedMs = Math.max(0, now - pace.at);
  const tokens = Math.min(rules.burst, pace.tokens + (elapsedMs / 1_000) * rules.perSecond);
  const floor = isQuestion ? rules.reserved : 0;
  return tokens - 1 < floor ? undefined : { tokens: tokens - 1, at: now };
}
