// Live logs (console, build log): kept for an hour in the owner's LIVE stream. However many sources are viewed here,
// this process reads the stream once; each viewer first replays its own source and then joins (docs/performance.md).

import { Fault, liveNoticeSubject, type Owner, type StreamTicket } from "@svc/proto";
import type { Core } from "../core.ts";
import type { StreamMessage } from "../stream/direct-get.ts";
import { nanosOf, timeOf } from "../stream/direct-get.ts";
import { type OrderedReader, openOrdered, type StartFrom } from "../stream/ordered.ts";
import { lineBreak, liveLogHeader } from "./write.ts";

/** One line and when it was stored, in unix seconds. `isLast`: its source has ended; never set on replayed lines. */
type Line = { atSeconds: number; line: Uint8Array; event?: string; isLast?: true };
type StoredLine = Line & { timestampNs: bigint };

const liveHeartbeatMs = 2_000;
const replayHeartbeatMs = 5_000;
const replayWithinMs = 10_000;
/** Lines that may wait for one viewer; one that is further behind is closed and reconnects with its position. */
const viewerLimit = 2_000;

type LiveLogReader = {
  read: (ticket: StreamTicket, signal: AbortSignal) => AsyncGenerator<Line, void, undefined>;
  close: () => Promise<void>;
};

type OnLine = (line: StoredLine) => void;
type Feed = { viewers: Map<string, Set<OnLine>>; started: Promise<void>; reader: OrderedReader };
type Join = (ticket: StreamTicket, viewer: OnLine) => { started: Promise<void>; leave: () => void };

/** Reads live logs for all viewers of this process. */
export function createLiveLogReader(core: Core): LiveLogReader {
  const feeds = new Map<string, Feed>();
  const join: Join = ({ stream, subject }, viewer) => {
    const feed = feeds.get(stream) ?? startFeed(core, { stream, filter: filterOf(subject) });
    feeds.set(stream, feed);
    const viewers = feed.viewers.get(subject) ?? new Set();
    feed.viewers.set(subject, viewers.add(viewer));
    const leave = () => {
      viewers.delete(viewer);
      if (viewers.size > 0 || feed.viewers.get(subject) !== viewers) return;
      feed.viewers.delete(subject);
      if (feed.viewers.size > 0) return;
      if (feeds.get(stream) === feed) feeds.delete(stream);
      void feed.reader.close();
    };
    return { started: feed.started, leave };
  };
  return {
    read: (ticket, signal) =>
      readLiveLog(core, { ticket, signal: AbortSignal.any([signal, core.closing]), join }),
    close: async () => {
      await Promise.all([...feeds.values()].map((feed) => feed.reader.close()));
      feeds.clear();
    },
  };
}

// One reader for all sources of a stream: with a thousand readers of one subject each, the server would search all
// messages for the next one of each. Only sources that somebody views are written.
function startFeed(core: Core, { stream, filter }: { stream: string; filter: string }): Feed {
  const viewers: Feed["viewers"] = new Map();
  let lastNs: bigint | undefined;
  let startedNs: bigint | undefined;
  let begin = () => {};
  const started = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const reader = openOrdered(core, {
    stream,
    filter,
    notices: noticesOf(filter),
    heartbeatMs: liveHeartbeatMs,
    // After a gap, continues behind the last line; by time, because a new stream restarts its sequences.
    startFrom: () => (lastNs === undefined ? { at: "next" } : { since: timeOf(lastNs + 1n) }),
    onStart: ({ ts }) => {
      startedNs ??= ts === undefined ? undefined : nanosOf(ts);
    },
    onCaughtUp: () => {
      lastNs ??= startedNs;
      begin();
    },
    onMessage: (message) => {
      lastNs = message.timestampNs;
      begin();
      deliver(viewers, message);
    },
  });
  return { viewers, started, reader };
}

/** All subjects of the stream that contains the source: `svc.live.<owner>.>`. */
function filterOf(subject: string): string {
  return `${subject.split(".").slice(0, 3).join(".")}.>`;
}

function noticesOf(subject: string): string {
  return liveNoticeSubject(subject.split(".")[2] as Owner);
}

/** A viewer reads one subject, or all that differ in the last token only. */
function deliver(viewers: Feed["viewers"], message: StreamMessage): void {
  const { subject } = message;
  const exact = viewers.get(subject);
  const wide = viewers.get(`${subject.slice(0, subject.lastIndexOf(".") + 1)}*`);
  if (!exact && !wide) return;
  for (const line of storedLinesOf(message))
    for (const one of [exact, wide]) for (const viewer of one ?? []) viewer(line);
}

type Viewing = {
  ticket: StreamTicket;
  signal: AbortSignal;
  join: Join;
};

async function* readLiveLog(core: Core, viewing: Viewing): AsyncGenerator<Line, void, undefined> {
  const { ticket, signal } = viewing;
  let waiting: StoredLine[] = [];
  let isBehind = false;
  let wake = () => {};
  const { started, leave } = viewing.join(ticket, (line) => {
    if (waiting.length >= viewerLimit) isBehind = true;
    else waiting.push(line);
    wake();
  });
  const onAbort = () => wake();
  signal.addEventListener("abort", onAbort);
  try {
    await untilOrAborted(started, signal);
    let lastNs = -1n;
    for (const line of signal.aborted ? [] : await replay(core, ticket, signal)) {
      if (signal.aborted) return;
      lastNs = line.timestampNs;
      // Without `isLast`: the source may have started again since.
      const { isLast: _, timestampNs: __, ...replayed } = line;
      yield replayed;
    }
    while (!signal.aborted && !isBehind) {
      const batch = waiting;
      waiting = [];
      for (const line of batch) {
        if (signal.aborted) return;
        if (line.timestampNs > lastNs) yield line;
      }
      if (waiting.length > 0 || isBehind) continue;
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (signal.aborted) resolve();
      });
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
    leave();
  }
}

async function untilOrAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  let stop = () => {};
  const aborted = new Promise<void>((resolve) => {
    stop = resolve;
    signal.addEventListener("abort", stop, { once: true });
  });
  await Promise.race([work, aborted]);
  signal.removeEventListener("abort", stop);
}

// Reads the stored lines. Throws the fault `unavailable` when that takes too long.
async function replay(core: Core, ticket: StreamTicket, signal: AbortSignal): Promise<StoredLine[]> {
  const { since, tail } = ticket;
  if (since === undefined && tail === 0) return [];
  let lines: StoredLine[] = [];
  const limit = since === undefined ? tail : Number.POSITIVE_INFINITY;
  const startFrom = (): StartFrom =>
    since === undefined ? { at: "first" } : { since: timeOf(BigInt(since) * 1_000_000_000n) };
  let finish = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const reader = openOrdered(core, {
    stream: ticket.stream,
    filter: ticket.subject,
    notices: noticesOf(ticket.subject),
    isPart: true,
    heartbeatMs: replayHeartbeatMs,
    startFrom,
    onStart: () => {
      lines = [];
    },
    onMessage: (message) => {
      lines.push(...storedLinesOf(message));
      if (lines.length > limit * 2) lines = lines.slice(-limit);
    },
    onCaughtUp: () => finish(),
  });
  const limitReached = AbortSignal.timeout(replayWithinMs);
  await untilOrAborted(finished, AbortSignal.any([signal, limitReached]));
  await reader.close();
  if (limitReached.aborted) throw new Fault("unavailable");
  return lines.length > limit ? lines.slice(-limit) : lines;
}

function storedLinesOf({ timestampNs, headers, body }: StreamMessage): StoredLine[] {
  const atSeconds = Number(timestampNs / 1_000_000_000n);
  const event = headers?.get(liveLogHeader.event) || undefined;
  const isLast = headers?.has(liveLogHeader.end);
  const about = {
    ...{ timestampNs, atSeconds },
    ...(event !== undefined && { event }),
    ...(isLast && { isLast: true as const }),
  };
  const text = Buffer.from(body);
  if (!headers?.has(liveLogHeader.count)) return [{ ...about, line: text }];
  const lines: StoredLine[] = [];
  for (let from = 0; from <= text.length; ) {
    const end = text.indexOf(lineBreak, from);
    const to = end < 0 ? text.length : end;
    lines.push({ ...about, line: text.subarray(from, to) });
    from = to + 1;
  }
  return lines;
}
