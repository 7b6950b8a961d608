// A body must keep arriving (docs/reference/http.md#bodies). One sweep over all requests with an unfinished body closes the
// connections that are too slow or keep sending after the response.

import type { RequestState } from "./request-state.ts";

export type SlowBodyGuard = { watch: (state: RequestState) => void; close: () => void };

type Watched = {
  state: RequestState;
  since: number;
  bytes: number;
  bytesWhenAnswered?: number;
};

/** Bytes that are read and discarded when the response came before the end of the body. */
const leftoverBytes = 8 * 1024 * 1024;

export function createSlowBodyGuard(limits: { graceMs: number; bytesPerSecond: number }): SlowBodyGuard {
  const watched = new Set<Watched>();
  let timer: NodeJS.Timeout | undefined;
  const stop = () => {
    clearInterval(timer);
    timer = undefined;
  };
  const sweep = () => {
    for (const one of watched) if (isLagging(one, limits)) one.state.request.socket.destroy();
    if (watched.size === 0) stop();
  };
  return {
    watch: (state) => {
      const { request } = state;
      const one = { state, since: Date.now(), bytes: request.socket.bytesRead };
      watched.add(one);
      request.once("close", () => watched.delete(one));
      timer ??= setInterval(sweep, Math.min(1_000, limits.graceMs / 4)).unref();
    },
    close: stop,
  };
}

function isLagging(one: Watched, limits: { graceMs: number; bytesPerSecond: number }): boolean {
  const { request, response } = one.state;
  const now = Date.now();
  if (request.readableEnded) return false;
  // We are the slow side when the buffer is full or the caller still waits for 100 Continue: the clock restarts.
  const isOurs = request.readableLength >= request.readableHighWaterMark || one.state.awaitsContinue;
  if (isOurs || !one.state.hasMinimumRate) {
    one.since = now;
    one.bytes = request.socket.bytesRead;
    return false;
  }
  if (response.writableFinished) {
    one.bytesWhenAnswered ??= request.socket.bytesRead;
    if (request.socket.bytesRead - one.bytesWhenAnswered > leftoverBytes) return true;
  }
  const elapsedMs = now - one.since;
  if (elapsedMs < limits.graceMs) return false;
  return (request.socket.bytesRead - one.bytes) * 1_000 < limits.bytesPerSecond * elapsedMs;
}
