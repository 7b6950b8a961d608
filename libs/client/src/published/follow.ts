// An event stream that goes on when its connection does not (docs/reference/client.md#streams).

import { readEvents, type StreamEvent } from "../events.ts";
import { pause, waitBefore } from "./retry.ts";

export type FollowSettings = {
  signal?: AbortSignal;
  /** Continues behind this event. */
  lastEventId?: string;
  /** False: ends with the connection, which the server closes after half an hour. Default true. */
  reconnect?: boolean;
};

type Open = (signal: AbortSignal, lastEventId: string) => Promise<Response>;

const reconnectMs = 1_000;

/**
 * Events until the source ends (`end`), the right to see it does (`revoked`), or nobody takes them any more. Throws what refuses
 * the stream for good, and the signal's reason.
 */
export async function* follow(open: Open, settings: FollowSettings = {}): AsyncGenerator<StreamEvent, void> {
  const { reconnect = true } = settings;
  const stopped = new AbortController();
  const signal = settings.signal ? AbortSignal.any([settings.signal, stopped.signal]) : stopped.signal;
  let lastEventId = settings.lastEventId ?? "";
  let failures = 0;
  try {
    for (;;) {
      let waitMs = reconnectMs;
      try {
        const response = await open(signal, lastEventId);
        if (!response.body || response.status === 204) return;
        for await (const event of readEvents(response.body)) {
          failures = 0;
          if (event.id !== "") lastEventId = event.id;
          yield event;
          if (event.event === "end" || event.event === "revoked") return;
        }
      } catch (error) {
        const wait = waitBefore(error, failures++);
        if (signal.aborted || !reconnect || wait === undefined) throw error;
        waitMs = wait;
      }
      if (!reconnect) return;
      await pause(waitMs, signal);
    }
  } finally {
    stopped.abort();
  }
}
