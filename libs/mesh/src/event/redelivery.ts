// What becomes of a message whose handler failed (style.md, errors): a pure decision.

import { faults, isFault } from "@svc/proto";

export type Fate = { kind: "later"; delayMs: number } | { kind: "dead" };

const firstDelayMs = 1_000;
const lastDelayMs = 300_000;

/** `attempt` counts from 1. Only a fault that may pass by itself is tried again, a limited number of times. */
export function decideFate(error: unknown, attempt: number, maxAttempts: number): Fate {
  const isPassing = isFault(error) && faults[error.fault].retry === "later";
  if (!isPassing || attempt >= maxAttempts) return { kind: "dead" };
  const doubled = firstDelayMs * 2 ** Math.min(attempt - 1, 30);
  const asked = (error.retryAfterSeconds ?? 0) * 1_000;
  return { kind: "later", delayMs: Math.min(Math.max(doubled, asked), lastDelayMs) };
}
