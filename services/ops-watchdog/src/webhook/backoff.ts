// What an attempt means for its delivery and its webhook (docs/reference/webhooks.md#attempts). Pure.

import type { Failure } from "./failure.ts";

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Pauses before the second attempt, the third, and so on; after the last one a delivery is dead. */
const pausesMs = [10 * second, minute, 5 * minute, 30 * minute, 2 * hour, 6 * hour, 14 * hour] as const;
export const mostAttempts = pausesMs.length + 1;

/** A receiver may ask for a longer pause, up to this. */
const mostAskedMs = hour;

export type Outcome =
  | { kind: "answered"; status: number; retryAfterMs?: number | undefined }
  /** No answer: no connection, no address, an address that is refused, too late. */
  | ({ kind: "failed" } & Failure);

export type Next =
  | { state: "delivered" }
  | { state: "dead"; turnsOff?: "gone" | "failing" }
  | { state: "waiting"; pauseMs: number; turnsOff?: "failing" };

type About = {
  /** Attempts that were begun, this one among them. */
  attempts: number;
  /** Since when nothing has arrived, this attempt included. */
  failingForMs: number;
  /** A webhook to which nothing has arrived for so long is switched off. */
  turnOffAfterMs: number;
};

export function decideNext(outcome: Outcome, { attempts, failingForMs, turnOffAfterMs }: About): Next {
  const isAnswer = outcome.kind === "answered";
  if (isAnswer && outcome.status >= 200 && outcome.status < 300) return { state: "delivered" };
  if (isAnswer && outcome.status === 410) return { state: "dead", turnsOff: "gone" };
  const off = failingForMs >= turnOffAfterMs ? ({ turnsOff: "failing" } as const) : {};
  const pauseMs = pausesMs[attempts - 1];
  if (pauseMs === undefined) return { state: "dead", ...off };
  const askedMs = isAnswer ? Math.min(outcome.retryAfterMs ?? 0, mostAskedMs) : 0;
  return { state: "waiting", pauseMs: Math.max(pauseMs, askedMs), ...off };
}

/** Of a `Retry-After` in seconds; a date, or anything else, says nothing. */
export function retryAfterOf(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,6}$/.test(header) ? Number(header) * second : undefined;
}

/** Spreads pauses by up to a tenth, the same for one delivery, so that what failed together does not come back together. */
export function spread(pauseMs: number, id: string): number {
  let sum = 0;
  for (const letter of id) sum = (sum * 31 + letter.charCodeAt(0)) % 1_000;
  return Math.round(pauseMs * (1 + sum / 10_000));
}
