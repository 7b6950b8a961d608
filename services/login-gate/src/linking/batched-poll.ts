// One call a second for all players who hold a code, in place of one call for each of them. A service that does not
// know the call, or allows it to another caller only, is asked about them one by one.

import { ApiError } from "@svc/client";
import { links } from "@svc/proto";
import type { Clock } from "@svc/service/clock";
import type { Answer } from "./policy.ts";

/** Waits for the next batched poll and resolves with its answer. Rejects once the player's `signal` is aborted. */
type BatchedPoll = (uuid: string, signal: AbortSignal) => Promise<Answer>;

type Dependencies = {
  /** Those of the players who are linked. */
  readonly askAll: (uuids: readonly string[]) => Promise<readonly string[]>;
  readonly askOne: (uuid: string, signal: AbortSignal) => Promise<Answer>;
  /** What an error of `askAll` means to each of the players. */
  readonly answerOf: (error: unknown) => Answer;
  readonly clock: Clock;
  readonly pollMs: number;
  readonly oneByOneMs: number;
};

type Waiter = {
  readonly uuid: string;
  readonly signal: AbortSignal;
  readonly resolve: (answer: Answer | Promise<Answer>) => void;
  readonly reject: (reason: unknown) => void;
};

const never = new AbortController().signal;

export function createBatchedPoll({ clock, pollMs, oneByOneMs, ...ask }: Dependencies): BatchedPoll {
  let waiting: Waiter[] = [];
  let oneByOneUntil = Number.NEGATIVE_INFINITY;
  const askEach = (waiters: readonly Waiter[]) => {
    for (const { uuid, signal, resolve } of waiters) resolve(ask.askOne(uuid, signal));
  };
  const askTogether = async (waiters: readonly Waiter[]) => {
    try {
      const linked = new Set(await ask.askAll(waiters.map(({ uuid }) => uuid)));
      for (const { uuid, resolve } of waiters) resolve({ kind: linked.has(uuid) ? "linked" : "unlinked" });
    } catch (error) {
      if (isClosedDoor(error)) oneByOneUntil = clock.now() + oneByOneMs;
      // Nor may one odd player block the poll of the others.
      if (isClosedDoor(error) || isBadRequest(error)) return askEach(waiters);
      const answer = ask.answerOf(error);
      for (const { resolve } of waiters) resolve(answer);
    }
  };
  const call = () => {
    const present = waiting.filter(isPresent);
    waiting = [];
    if (clock.now() < oneByOneUntil) return askEach(present);
    for (let at = 0; at < present.length; at += links.maxPlayersAsked)
      void askTogether(present.slice(at, at + links.maxPlayersAsked));
  };
  return (uuid, signal) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) void clock.sleep(pollMs, never).then(call);
      waiting.push({ uuid, signal, resolve, reject });
    });
}

// Who left is told at the next roll call: a listener on each player's signal would cost more than the wait.
function isPresent({ signal, reject }: Waiter): boolean {
  if (signal.aborted) reject(signal.reason);
  return !signal.aborted;
}

const isClosedDoor = (error: unknown) => error instanceof ApiError && [403, 404, 405].includes(error.status);
const isBadRequest = (error: unknown) => error instanceof ApiError && error.status === 400;
