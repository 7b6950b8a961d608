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

/** More readers than there are gateways; what is beyond is not answered. */
const mostReaders = 64;
const readerShape = /^[\w-]{1,32}$/;

/** Requests that wait for the next mark. Requests of one reader are numbered in order: a later one includes the earlier. */
export type WaitingRequests = {
  add: (body: Uint8Array) => boolean;
  take: () => CatchUps;
  isEmpty: () => boolean;
};

export function createWaitingRequests(): WaitingRequests {
  let waiting = new Map<string, number>();
  return {
    /** False when the body is no request. */
    add: (body) => {
      const asked = requestIn(body);
      if (!asked || (waiting.size >= mostReaders && !waiting.has(asked.reader))) return false;
      waiting.set(asked.reader, Math.max(asked.request, waiting.get(asked.reader) ?? 0));
      return true;
    },
    take: () => {
      const taken = Object.fromEntries(waiting);
      waiting = new Map();
      return taken;
    },
    isEmpty: () => waiting.size === 0,
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
