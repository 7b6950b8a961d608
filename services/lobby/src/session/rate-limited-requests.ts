// Frames of one player to the proxy. Clicks go out at once or not at all; requests wait for a token, and
// leave some for what a player clicks. The proxy lets through a burst of 96, then 10 a second (docs/reference/svc-control.md#rules),
// and drops the rest without a word: the lobby stays below that.

import type { ControlFrame } from "@svc/proto/control";
import type { Clock } from "@svc/service/clock";
import { fullBucket, takeTokens } from "@svc/service/token-bucket";
import type { RequestRate } from "../config.ts";

type Dependencies = {
  readonly send: (frame: ControlFrame) => void;
  readonly clock: Clock;
  readonly rules: RequestRate;
  readonly left: AbortSignal;
};

export type RateLimitedRequests = {
  /** False: too fast, nothing was sent. */
  readonly act: (frame: ControlFrame) => boolean;
  /** Asks for the state of these servers, in place of those that still wait. */
  readonly ask: (servers: readonly string[]) => void;
};

export function createRateLimitedRequests({ send, clock, rules, left }: Dependencies): RateLimitedRequests {
  const bucket = fullBucket(rules, clock.now());
  let waiting: string[] = [];
  let isDraining = false;
  const pass = (frame: ControlFrame, isQuestion: boolean): boolean => {
    const rate = isQuestion ? rules : { ...rules, reserved: 0 };
    if (takeTokens(bucket, rate, clock.now()) > 0) return false;
    send(frame);
    return true;
  };
  const drain = async () => {
    isDraining = true;
    while (waiting.length > 0 && !left.aborted) {
      const [server] = waiting;
      if (server !== undefined && pass({ type: "StatusQuery", server }, true)) waiting.shift();
      else await clock.sleep(1_000 / rules.perSecond, left).catch(() => {});
    }
    isDraining = false;
  };
  return {
    act: (frame) => pass(frame, false),
    ask: (servers) => {
      waiting = [...servers];
      if (!isDraining) void drain();
    },
  };
}
