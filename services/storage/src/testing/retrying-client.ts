// A client that gives up on nothing it may repeat: it notes what it is answered, and comes again.

import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import type { Answer, Ask } from "./face-fixture.ts";
import type { TransferBed } from "./transfer-fixture.ts";

export type PatientClient = {
  /** Asks once. Undefined when the connection broke or the answer was one of those that mean: come again. */
  ask: (path: string, about?: Ask) => Promise<Answer | undefined>;
  /** Statuses and codes of all answers, and `cut` for each connection that broke. */
  heard: string[];
  /** Gives up what it waits for now: whoever serves it may be dead, and then the answer comes at its deadline only. */
  hurry: () => void;
};

const pauseMs = 50;
/** What somebody may be told while things die: nothing else is forgivable. */
const passing = /^(503 |409 (upload_busy|maintenance_in_progress)|429 (export_busy|overloaded))/;

export function createPatientClient({ ask }: Pick<TransferBed, "ask">): PatientClient {
  const heard: string[] = [];
  let hurrying = new AbortController();
  return {
    heard,
    hurry: () => {
      hurrying.abort();
      hurrying = new AbortController();
    },
    ask: async (path, about) => {
      const answer = await ask(path, { ...about, signal: hurrying.signal }).catch(() => undefined);
      if (!answer) {
        heard.push("cut");
        await delay(pauseMs);
        return undefined;
      }
      const { code = "" } = (answer.body["error"] ?? {}) as { code?: string };
      const told = `${answer.status} ${code}`;
      heard.push(told.trim());
      if (!passing.test(told)) return answer;
      await delay(pauseMs);
      return undefined;
    },
  };
}

/** Repeats until there is something; fails after a while with all that was heard. */
export async function insist<T>(
  { heard }: PatientClient,
  what: string,
  work: () => Promise<T | undefined>,
): Promise<T> {
  const endAt = Date.now() + 30_000;
  while (Date.now() < endAt) {
    const result = await work();
    if (result !== undefined) return result;
    await delay(pauseMs);
  }
  throw new Error(`${what} never came about: ${[...new Set(heard)].join(", ")}`);
}

/** Nothing was heard but success, broken connections and requests to come again. */
export function assertForgivable({ heard }: PatientClient, also: RegExp): void {
  const odd = heard.filter(
    (one) => !/^(2\d\d|cut)$/.test(one) && !passing.test(`${one} `) && !also.test(one),
  );
  assert.deepEqual(odd, []);
}
