// What happens to a message whose handler failed (docs/reference/errors.md): a pure decision.

import { faults, isFault } from "@svc/proto";

export type Redelivery = { kind: "later"; delayMs: number } | { kind: "dead" };

const firstDelayMs = 1_000;
const lastDelayMs = 300_000;

/** `attempt` counts from 1. Only a temporary fault is retried, a limited number of times. */
export function decideRedelivery(error: unknown, attempt: number, maxAttempts: number): Redelivery {
  const isTemporary = isFault(error) && faults[error.fault].retry === "later";
  if (!isTemporary || attempt >= maxAttempts) return { kind: "dead" };
  const doubled = firstDelayMs * 2 ** Math.min(attempt - 1, 30);
  const requested = (error.retryAfterSeconds ?? 0) * 1_000;
  return { kind: "later", delayMs: Math.min(Math.max(doubled, requested), lastDelayMs) };
}
