// One request for the server list at a time; without an answer the player is told.

import type { Clock } from "@svc/service/clock";
import { answerTimeoutMs } from "../config.ts";

export type ListRequest = {
  readonly start: () => void;
  /** Whether somebody was waiting for the list; nobody is afterwards. */
  readonly settle: () => boolean;
};

type Dependencies = {
  /** False: too fast, nothing was sent. */
  readonly send: () => boolean;
  readonly onNoAnswer: () => void;
  readonly clock: Clock;
  readonly left: AbortSignal;
};

export function createListRequest({ send, onNoAnswer, clock, left }: Dependencies): ListRequest {
  let waiting: AbortController | undefined;
  return {
    start: () => {
      if (waiting || !send()) return;
      const current = new AbortController();
      waiting = current;
      clock.sleep(answerTimeoutMs, AbortSignal.any([current.signal, left])).then(
        () => {
          waiting = undefined;
          onNoAnswer();
        },
        () => {},
      );
    },
    settle: () => {
      const wasWaiting = waiting !== undefined;
      waiting?.abort();
      waiting = undefined;
      return wasWaiting;
    },
  };
}
