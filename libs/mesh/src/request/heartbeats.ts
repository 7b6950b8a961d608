// Tells waiting callers that this replica is working on their request (ADR 0014).

import type { Msg } from "@nats-io/transport-node";
import type { Core } from "../core.ts";
import { beatMs } from "./replicas.ts";
import { heartbeatHeaders } from "./wire.ts";

export type Heartbeats = {
  /** Starts sending them to the caller of a request. Returns a function that stops it. */
  start: (request: Msg) => () => void;
  close: () => void;
};

const empty = new Uint8Array(0);

export function createHeartbeats(core: Core): Heartbeats {
  const working = new Set<Msg>();
  let beating: NodeJS.Timeout | undefined;
  const beat = () => {
    if (working.size === 0) {
      clearInterval(beating);
      beating = undefined;
    }
    for (const { reply } of working) {
      if (reply) core.connection.tryPublish(reply, empty, heartbeatHeaders);
    }
  };
  return {
    start: (request) => {
      working.add(request);
      beating ??= setInterval(beat, beatMs).unref();
      return () => void working.delete(request);
    },
    close: () => clearInterval(beating),
  };
}
