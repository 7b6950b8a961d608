// The proxy lets each player's frames through at a pace (burst 96, then 10 a second; docs/reference/svc-control.md#rules) and drops the
// rest without a word. The lobby stays below it, and keeps some for what a player clicks.

import type { RequestRate } from "../config.ts";

export type TokenBucket = { readonly tokens: number; readonly at: number };

export function fullBucket(rules: RequestRate, now: number): TokenBucket {
  return { tokens: rules.burst, at: now };
}

/** What is left after one frame; undefined when it has to wait. Status requests leave `reserved` tokens for clicks. */
export function spend(
  pace: TokenBucket,
  { now, rules, isQuestion }: { now: number; rules: RequestRate; isQuestion: boolean },
): TokenBucket | undefined {
  const elapsedMs = Math.max(0, now - pace.at);
  const tokens = Math.min(rules.burst, pace.tokens + (elapsedMs / 1_000) * rules.perSecond);
  const floor = isQuestion ? rules.reserved : 0;
  return tokens - 1 < floor ? undefined : { tokens: tokens - 1, at: now };
}
