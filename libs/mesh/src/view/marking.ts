// How often a view is marked as current (docs/reference/mesh.md#views): seldom, unless a reader says that its age matters.

import { type View, viewUseSubject } from "@svc/proto";
import { encodeHeaders } from "../connection/headers.ts";
import type { Core } from "../core.ts";
import { fitsFilter, isPublished, publisherHeaders } from "../stream/publisher.ts";

const restingMs = 30_000;
/** A view counts as in use for so long after a reader said so, which each does again after `sayAgainMs`. */
const usedForMs = 60_000;
const sayAgainMs = 20_000;
const sayAgainStaleMs = 500;

type Marking = {
  view: View;
  mark: () => void;
  /** Called with what readers sent; whether it is a request for a mark now. */
  isRequest?: (body: Uint8Array) => boolean;
  usedForMs?: number;
  restingMs?: number;
};

/**
 * Calls `mark` every `markEveryMs` while the view is in use, as at first, else every 30 s, and once its use begins.
 * `pauseMs` is the pause that holds now.
 */
export function startMarking(core: Core, marking: Marking): { pauseMs: () => number; close: () => void } {
  const { view, mark, usedForMs: usedMs = usedForMs } = marking;
  const restMs = Math.max(marking.restingMs ?? restingMs, view.markEveryMs);
  let usedAt = performance.now();
  let timer: NodeJS.Timeout;
  const isUsed = () => performance.now() - usedAt < usedMs;
  const pauseMs = () => (isUsed() ? view.markEveryMs : restMs);
  const wait = () => {
    timer = setTimeout(() => {
      wait();
      mark();
    }, pauseMs());
  };
  const subject = viewUseSubject(view);
  const listening = core.connection.subscribe(subject, (message) => {
    // An answer of NATS that somebody directed here is nobody's use.
    if (!isPublished(message.headers, "delivered") || !fitsFilter(subject, message.subject)) return;
    const wasUsed = isUsed();
    usedAt = performance.now();
    const isRequest = marking.isRequest?.(message.data) === true;
    if (wasUsed && !isRequest) return;
    clearTimeout(timer);
    wait();
    mark();
  });
  wait();
  return {
    pauseMs,
    close: () => {
      clearTimeout(timer);
      listening.unsubscribe();
    },
  };
}

/**
 * For a reader: whether a copy that its owner vouched for at `vouchedAt` (monotonic) is young enough. Tells the owner now
 * and then that somebody asks, and often while the copy is too old.
 */
export function createFreshness(core: Core, view: View): (vouchedAt: number | undefined) => boolean {
  const subject = viewUseSubject(view);
  const headers = encodeHeaders(publisherHeaders(core));
  const nothing = new Uint8Array(0);
  let saidAt = Number.NEGATIVE_INFINITY;
  return (vouchedAt = Number.NEGATIVE_INFINITY) => {
    const now = performance.now();
    const isFresh = now - vouchedAt < view.staleAfterMs;
    if (now - saidAt >= (isFresh ? sayAgainMs : sayAgainStaleMs)) {
      saidAt = now;
      core.connection.tryPublish(subject, nothing, headers);
    }
    return isFresh;
  };
}
