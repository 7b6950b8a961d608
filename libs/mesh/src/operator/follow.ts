// Follows events for an operator: in order, from a given time, with a mark between stored and new ones.

import type { FollowedEvent, FollowOptions } from "../api.ts";
import type { Core } from "../core.ts";
import { timeOf } from "../stream/direct-get.ts";
import { apiCode, isApiCode, jetStreamApi } from "../stream/jetstream-api.ts";
import { openOrdered } from "../stream/ordered.ts";

const heartbeatMs = 5_000;

/** Reads the events of one owner's stream until it is closed. */
export function followEvents(core: Core, options: FollowOptions): { close: () => Promise<void> } {
  let last: { timestampNs: bigint; sequence: number } | undefined;
  return openOrdered(core, {
    stream: options.stream,
    filter: options.subject,
    isPart: true,
    heartbeatMs,
    // A stream that does not exist yet has no events, so the follower has caught up; it still waits for the stream.
    beforeStart: async () => {
      await jetStreamApi(core.connection, `STREAM.INFO.${options.stream}`).catch((error: unknown) => {
        if (isApiCode(error, apiCode.streamNotFound)) options.onCaughtUp?.();
        throw error;
      });
    },
    startFrom: () => {
      if (last) return { since: timeOf(last.timestampNs) };
      return options.since ? { since: options.since.toISOString() } : { at: "next" };
    },
    onMessage: ({ subject, body, timestampNs, sequence }) => {
      // A new round begins at the last message and at what was stored in its nanosecond; a stream made anew counts from one again.
      if (timestampNs === last?.timestampNs && sequence <= last.sequence) return;
      last = { timestampNs, sequence };
      options.onEvent(decode({ subject, body, timestampNs, sequence }));
    },
    ...(options.onCaughtUp ? { onCaughtUp: options.onCaughtUp } : {}),
  });
}

type Stored = { subject: string; body: Uint8Array; timestampNs: bigint; sequence: number };

function decode({ subject, body, timestampNs, sequence }: Stored): FollowedEvent {
  const text = Buffer.from(body).toString("utf8");
  let data: unknown = text;
  try {
    data = JSON.parse(text);
  } catch {
    // Not JSON: shown as text.
  }
  return { subject, sequence, at: new Date(Number(timestampNs / 1_000_000n)).toISOString(), data };
}
