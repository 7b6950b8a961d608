// Reads a stream in order without acknowledgements and without a consumer. What is stored is read by sequence, so there
// is no gap and nothing comes twice; a plain subscription to the same subjects only says when to read on, and a look at
// the stream with every heartbeat finds what that one missed. Views and live lines are built on it.

import { setTimeout as delay } from "node:timers/promises";
import type { Core } from "../core.ts";
import { type BatchReader, openBatches, type StreamMessage } from "./direct-get.ts";
import { findStream, noStream, type StreamInfo } from "./info.ts";

export type StartFrom = { at: "first" | "next" } | { since: string };

export type OrderedOptions = {
  stream: string;
  filter: string;
  /** Whether the filter leaves out part of the stream; what fits is then looked for. */
  isPart?: boolean;
  heartbeatMs: number;
  /** Asked before every round. */
  startFrom: () => StartFrom;
  /** Awaited before every round; a throw puts the round off. */
  beforeStart?: () => Promise<void>;
  /** A round begins: what was read since the last `onCaughtUp` may be incomplete. */
  onStart?: (stream: StreamInfo) => void;
  onMessage: (message: StreamMessage) => void;
  /** A message of the stream that no service published to it; without this it is left out. */
  onForeign?: (message: StreamMessage) => void;
  /** Everything that was stored when the round began has been read. */
  onCaughtUp?: () => void;
};

export type OrderedReader = { close: () => Promise<void> };

const retryMs = { first: 50, last: 2_000 };
/** A message is told of before it is stored: so much later it is looked for again, each time. */
const confirmMs = [1, 4, 16, 64, 256] as const;

/** Reads until closed; a stream that does not exist yet is waited for. */
export function openOrdered(core: Core, options: OrderedOptions): OrderedReader {
  const closing = new AbortController();
  const running = readForever(core, options, closing.signal);
  return {
    close: async () => {
      closing.abort();
      await running;
    },
  };
}

async function readForever(core: Core, options: OrderedOptions, closing: AbortSignal): Promise<void> {
  let waitMs = retryMs.first;
  while (!closing.aborted) {
    try {
      await options.beforeStart?.();
      await readRound(core, options, closing);
      waitMs = retryMs.first;
    } catch (error) {
      core.log.debug(
        { stream: options.stream, error: (error as Error).message },
        "a stream cannot be read yet",
      );
    }
    if (closing.aborted) return;
    await delay(waitMs, undefined, { signal: closing }).catch(() => {});
    waitMs = Math.min(waitMs * 2, retryMs.last);
  }
}

type Round = {
  isOver: boolean;
  /** Messages that were told of and not read yet, as far as that can be counted. */
  owed: number;
  next: number;
  created: string;
  wake: () => void;
};

// From one look at the stream to the first sign that it is not the same any more.
async function readRound(core: Core, options: OrderedOptions, closing: AbortSignal): Promise<void> {
  const { connection } = core;
  const round: Round = { isOver: false, owed: 0, next: 1, created: "", wake: () => {} };
  const end = () => {
    round.isOver = true;
    round.wake();
    batches.close();
  };
  const batches = openBatches(connection, options.stream);
  const hints = connection.subscribe(options.filter, () => {
    round.owed += 1;
    round.wake();
  });
  const forget = connection.onReconnect(end);
  closing.addEventListener("abort", end, { once: true });
  try {
    if (closing.aborted) return;
    const info = await findStream(connection, options.stream);
    if (!info) throw noStream(options.stream);
    round.created = info.created;
    options.onStart?.(info);
    const reading = { core, options, round };
    await readStored(batches, reading, info);
    if (!round.isOver) options.onCaughtUp?.();
    await readNew(batches, reading);
  } catch (error) {
    if (!round.isOver) throw error;
  } finally {
    forget();
    closing.removeEventListener("abort", end);
    hints.unsubscribe();
    batches.close();
  }
}

type Reading = { core: Core; options: OrderedOptions; round: Round };

/** Everything up to now; leaves `round.next` behind it. */
async function readStored(batches: BatchReader, reading: Reading, info: StreamInfo): Promise<void> {
  const { options, round } = reading;
  const { last_seq: last } = info.state;
  const start = options.startFrom();
  if ("at" in start) {
    round.next = start.at === "next" ? last + 1 : 1;
    if (start.at === "first") await readOn(batches, reading);
    return;
  }
  // Nothing since then: what comes is behind what is there.
  round.next = last + 1;
  const { isLast, count } = await readBatch(batches, reading, start.since);
  if (count > 0 && !isLast) await readOn(batches, reading);
}

async function readOn(batches: BatchReader, reading: Reading): Promise<number> {
  for (let total = 0; ; ) {
    if (reading.round.isOver) return total;
    const { isLast, count } = await readBatch(batches, reading, reading.round.next);
    total += count;
    if (isLast || count === 0) return total;
  }
}

function readBatch(batches: BatchReader, { core, options, round }: Reading, from: number | string) {
  let isFirst = true;
  return batches.read({ from, filter: options.isPart ? options.filter : undefined }, (message) => {
    round.next = isFirst || message.sequence >= round.next ? message.sequence + 1 : round.next;
    isFirst = false;
    if (message.isPublished) return options.onMessage(message);
    core.metrics.foreignMessage(options.stream);
    options.onForeign?.(message);
  });
}

async function readNew(batches: BatchReader, reading: Reading): Promise<void> {
  const { options, round } = reading;
  // What was told of while the rest was read may have been stored behind it.
  round.owed = Math.min(1, round.owed);
  let tries = 0;
  let lookAt = Date.now() + options.heartbeatMs;
  while (!round.isOver) {
    const told = round.owed;
    if (told > 0) {
      const count = await readOn(batches, reading);
      tries = count > 0 ? 0 : tries + 1;
      // The stream refused what was told of.
      const isGivenUp = tries >= confirmMs.length;
      round.owed = Math.max(0, round.owed - (isGivenUp ? told : count));
      if (isGivenUp) tries = 0;
    }
    if (round.owed > 0) await pause(round, confirmMs[tries] ?? 1, false);
    else await pause(round, Math.max(1, lookAt - Date.now()), true);
    if (round.isOver || Date.now() < lookAt) continue;
    lookAt = Date.now() + options.heartbeatMs;
    await look(batches, reading);
  }
}

/** Finds what nobody told of, and a stream that was made anew. */
async function look(batches: BatchReader, reading: Reading): Promise<void> {
  const { core, options, round } = reading;
  const info = await findStream(core.connection, options.stream);
  if (!info || info.created !== round.created || info.state.last_seq < round.next - 1) {
    round.isOver = true;
    return;
  }
  if (info.state.last_seq >= round.next) await readOn(batches, reading);
}

/** Ends early when a message is told of, if asked for, and when the round is over. */
function pause(round: Round, ms: number, untilTold: boolean): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      round.wake = () => {};
      resolve();
    };
    const timer = setTimeout(done, ms);
    round.wake = () => {
      if (untilTold || round.isOver) done();
    };
    if (round.isOver || (untilTold && round.owed > 0)) done();
  });
}
