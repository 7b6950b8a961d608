// A body must keep arriving (interface.md 4.1 rule 4). One sweep over the requests whose body is still on its way;
// a connection that is too slow, or that keeps sending after its answer, is closed.

import type { Exchange } from "./request-state.ts";

export type Pace = { watch: (exchange: Exchange) => void; close: () => void };

type Watched = {
  exchange: Exchange;
  since: number;
  bytes: number;
  bytesWhenAnswered?: number;
};

/** Bytes that are read and thrown away behind an answer that came before the body's end. */
const leftoverBytes = 8 * 1024 * 1024;

export function createPace(limits: { graceMs: number; bytesPerSecond: number }): Pace {
  const watched = new Set<Watched>();
  let timer: NodeJS.Timeout | undefined;
  const stop = () => {
    clearInterval(timer);
    timer = undefined;
  };
  const sweep = () => {
    for (const one of watched) if (isLagging(one, limits)) one.exchange.request.socket.destroy();
    if (watched.size === 0) stop();
  };
  return {
    watch: (exchange) => {
      const { request } = exchange;
      const one = { exchange, since: Date.now(), bytes: request.socket.bytesRead };
      watched.add(one);
      request.once("close", () => watched.delete(one));
      timer ??= setInterval(sweep, Math.min(1_000, limits.graceMs / 4)).unref();
    },
    close: stop,
  };
}

function isLagging(one: Watched, limits: { graceMs: number; bytesPerSecond: number }): boolean {
  const { request, response } = one.exchange;
  const now = Date.now();
  if (request.readableEnded) return false;
  // A full buffer means that we are the slow side, as does a caller that was not asked yet: the clock starts anew.
  const isOurs = request.readableLength >= request.readableHighWaterMark || one.exchange.awaitsContinue;
  if (isOurs || !one.exchange.isPaced) {
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
