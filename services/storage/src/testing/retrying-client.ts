// A client that retries everything it may retry, and records every answer.

import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import type { Answer, Ask } from "./face-fixture.ts";
import type { TransferFixture } from "./transfer-fixture.ts";

export type RetryingClient = {
  /** Sends a request once. Undefined when the connection broke or the answer asks for a retry. */
  ask: (path: string, about?: Ask) => Promise<Answer | undefined>;
  /** Status and code of every response, and `cut` for each broken connection. */
  answers: string[];
  /** How long something is repeated. */
  patienceMs: number;
  /** Aborts the pending requests: a dead server would answer them only at their deadline. */
  abortWaiting: () => void;
};

const pauseMs = 50;
/** Answers that are allowed while something is down. */
const retryable = /^(503 |409 (upload_busy|maintenance_in_progress)|429 (export_busy|overloaded))/;

export function createRetryingClient(
  { ask }: Pick<TransferFixture, "ask">,
  patienceMs = 30_000,
): RetryingClient {
  const answers: string[] = [];
  let hurrying = new AbortController();
  return {
    answers,
    patienceMs,
    abortWaiting: () => {
      hurrying.abort();
      hurrying = new AbortController();
    },
    ask: async (path, about) => {
      const answer = await ask(path, { ...about, signal: hurrying.signal }).catch(() => undefined);
      if (!answer) {
        answers.push("cut");
        await delay(pauseMs);
        return undefined;
      }
      const { code = "" } = (answer.body["error"] ?? {}) as { code?: string };
      const received = `${answer.status} ${code}`;
      answers.push(received.trim());
      if (!retryable.test(received)) return answer;
      await delay(pauseMs);
      return undefined;
    },
  };
}

/** Repeats `work` until it returns something; fails after the patience of the client and lists all answers. */
export async function retryUntil<T>(
  { answers, patienceMs }: RetryingClient,
  what: string,
  work: () => Promise<T | undefined>,
): Promise<T> {
  const endAt = Date.now() + patienceMs;
  while (Date.now() < endAt) {
    const result = await work();
    if (result !== undefined) return result;
    await delay(pauseMs);
  }
  throw new Error(`${what} never happened: ${[...new Set(answers)].join(", ")}`);
}

/** Every response was a success, a broken connection or a request to retry. */
export function assertOnlyRetryable({ answers }: RetryingClient, also: RegExp): void {
  const odd = answers.filter(
    (one) => !/^(2\d\d|cut)$/.test(one) && !retryable.test(`${one} `) && !also.test(one),
  );
  assert.deepEqual(odd, []);
}
