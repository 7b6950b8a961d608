// Readers that ask the owner of a view for a copy of what it knows now (docs/reference/mesh.md#catch-up). The request goes
// where readers say that the view is in use, the answer is a mark: it arrives after every entry that it speaks of.

import { type View, viewUseSubject } from "@svc/proto";
import { encodeHeaders } from "../connection/headers.ts";
import { randomToken } from "../connection/random-token.ts";
import type { Core } from "../core.ts";
import { encodeJson, textOf } from "../json.ts";
import { publisherHeaders } from "../stream/publisher.ts";

/** By reader, the number of its last request. */
export type CatchUps = Readonly<Record<string, number>>;

/** More readers than there are gateways; with more, the one that asked longest ago is forgotten. */
const mostReaders = 64;
const readerShape = /^[\w-]{1,32}$/;

/**
 * The last request of each reader. They are numbered in order, a later one includes the earlier, and every mark that can
 * vouch for the new ones names all: a reader may find only the last mark, since a bucket keeps no other.
 */
export type Requests = {
  /** False when the body is no request. */
  add: (body: Uint8Array) => boolean;
  /** For a mark; `isOpen` while no mark has vouched for some of them. */
  take: () => { requests: CatchUps; isOpen: boolean };
  /** A mark has vouched for what was taken last. */
  vouched: () => void;
  /** Whether one came after the last `take`. */
  hasArrived: () => boolean;
};

export function createRequests(): Requests {
  const asked = new Map<string, number>();
  let [isOpen, hasArrived] = [false, false];
  return {
    add: (body) => {
      const one = requestIn(body);
      if (!one) return false;
      const last = Math.max(one.request, asked.get(one.reader) ?? 0);
      asked.delete(one.reader);
      asked.set(one.reader, last);
      const [oldest] = asked.keys();
      if (asked.size > mostReaders && oldest !== undefined) asked.delete(oldest);
      [isOpen, hasArrived] = [true, true];
      return true;
    },
    take: () => {
      hasArrived = false;
      return { requests: Object.fromEntries(asked), isOpen };
    },
    vouched: () => {
      isOpen = hasArrived;
    },
    hasArrived: () => hasArrived,
  };
}

function requestIn(body: Uint8Array): { reader: string; request: number } | undefined {
  if (body.length === 0 || body.length > 200) return undefined;
  try {
    const { reader, request } = JSON.parse(textOf(body)) as Record<string, unknown>;
    if (typeof reader !== "string" || !readerShape.test(reader)) return undefined;
    return Number.isSafeInteger(request) ? { reader, request: Number(request) } : undefined;
  } catch {
    return undefined;
  }
}

/** What a mark answers; undefined when its writer cannot say it, or is of an older release and answers no requests. */
export function catchUpsIn(mark: object): CatchUps | undefined {
  if (!("caughtUp" in mark) || typeof mark.caughtUp !== "object" || mark.caughtUp === null) return undefined;
  return mark.caughtUp as CatchUps;
}

type CatchingUp = {
  /** True once a mark has answered this request; false when none has within `withinMs`, or the last one answered nobody. */
  request: (withinMs: number) => Promise<boolean>;
  /** A mark has reached the copy that readers see. */
  marked: (caughtUp: CatchUps | undefined) => void;
  close: () => void;
};

/** For a reader. After a request without an answer the owner is not asked again before its next mark. */
export function createCatchingUp(core: Core, view: View): CatchingUp {
  const subject = viewUseSubject(view);
  const headers = encodeHeaders(publisherHeaders(core));
  const reader = randomToken();
  const waiting = new Map<number, (isDone: boolean) => void>();
  let isAnswering = false;
  let last = 0;
  const endUpTo = (request: number, isDone: boolean) => {
    for (const [one, end] of waiting) if (one <= request) end(isDone);
  };
  return {
    request: (withinMs) => {
      const request = last + 1;
      const body = encodeJson({ reader, request });
      if (!isAnswering || !core.connection.tryPublish(subject, body, headers)) return Promise.resolve(false);
      last = request;
      return new Promise((resolve) => {
        const timer = setTimeout(() => {
          isAnswering = false;
          waiting.get(request)?.(false);
        }, withinMs);
        waiting.set(request, (isDone) => {
          clearTimeout(timer);
          waiting.delete(request);
          resolve(isDone);
        });
      });
    },
    marked: (caughtUp) => {
      isAnswering = caughtUp !== undefined;
      if (caughtUp) endUpTo(caughtUp[reader] ?? 0, true);
      else endUpTo(last, false);
    },
    close: () => {
      isAnswering = false;
      endUpTo(last, false);
    },
  };
}
