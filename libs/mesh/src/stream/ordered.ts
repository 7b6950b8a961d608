// Reads a stream in order without acknowledgements and without a consumer. Stored messages are read by sequence, so
// there are no gaps and no duplicates; a plain subscription to the same subjects only tells when to read on, and a
// lookup of the stream with every heartbeat finds what the subscription missed. Views and live logs are built on it.

import { setTimeout as delay } from "node:timers/promises";
import type { Core } from "../core.ts";
import { type BatchReader, openBatches, type StreamMessage } from "./direct-get.ts";
import { findStream, noStream, type StreamInfo } from "./info.ts";

export type StartFrom = { at: "first" | "next" } | { since: string };

type OrderedOptions = {
  stream: string;
  filter: string;
  /** Subject of notices with the sequence of a stored message; without it the messages are listened to. */
  notices?: string;
  /** Whether the filter excludes part of the stream; the server then searches for matching messages. */
  isPart?: boolean;
  heartbeatMs: number;
  /** Called before every round. */
  startFrom: () => StartFrom;
  /** Awaited before every round; a throw postpones the round. */
  beforeStart?: () => Promise<void>;
  /** A round starts: what was read since the last `onCaughtUp` may be incomplete. */
  onStart?: (stream: StreamInfo) => void;
  onMessage: (message: StreamMessage) => void;
  /** A message of the stream that no service published there; ignored without this. */
  onForeign?: (message: StreamMessage) => void;
  /** Everything that was stored when the round started has been read, from the stream that `onStart` named. */
  onCaughtUp?: () => void;
};

export type OrderedReader = {
  /** Starts a new round: what was read may not be what is stored. */
  restart: () => void;
  close: () => Promise<void>;
};

type Control = { closing: AbortSignal; endRound: () => void };

const retryMs = { first: 50, last: 2_000 };
/** A message is announced before it is stored: the waits before each further search for it. */
const confirmMs = [1, 2, 4, 8, 16, 32, 64, 128, 256] as const;

/** Reads until closed; waits for a stream that does not exist yet. */
export function openOrdered(core: Core, options: OrderedOptions): OrderedReader {
  const closing = new AbortController();
  const control: Control = { closing: closing.signal, endRound: () => {} };
  const running = readForever(core, options, control);
  return {
    restart: () => control.endRound(),
    close: async () => {
      closing.abort();
      await running;
    },
  };
}

async function readForever(core: Core, options: OrderedOptions, control: Control): Promise<void> {
  const { closing } = control;
  let waitMs = retryMs.first;
  while (!closing.aborted) {
    try {
      await options.beforeStart?.();
      await readRound(core, options, control);
      waitMs = retryMs.first;
    } catch (error) {
      core.log.debug(
        { stream: options.stream, error: (error as Error).message },
        "reading a stream failed; retrying",
      );
    }
    if (closing.aborted) return;
    await delay(waitMs, undefined, { signal: closing }).catch(() => {});
    waitMs = Math.min(waitMs * 2, retryMs.last);
  }
}

type Round = {
  isOver: boolean;
  /** Messages that were announced and not read yet, as far as that can be counted. */
  owed: number;
  /** Whether something was announced since the last search. */
  hasNews: boolean;
  /** The highest sequence that a notice named. */
  noticed: number;
  next: number;
  created: string;
  wake: () => void;
};

// From one lookup of the stream to the first sign that it has changed identity.
async function readRound(core: Core, options: OrderedOptions, control: Control): Promise<void> {
  const { connection } = core;
  const { closing } = control;
  const round: Round = {
    isOver: false,
    owed: 0,
    hasNews: false,
    noticed: 0,
    next: 1,
    created: "",
    wake: () => {},
  };
  const end = () => {
    round.isOver = true;
    round.wake();
    batches.close();
  };
  const batches = openBatches(connection, options.stream);
  const hints = connection.subscribe(options.notices ?? options.filter, ({ data }) => {
    if (options.notices === undefined) round.owed += 1;
    else round.noticed = Math.max(round.noticed, sequenceIn(data));
    round.hasNews = true;
    round.wake();
  });
  const forget = connection.onReconnect(end);
  closing.addEventListener("abort", end, { once: true });
  control.endRound = end;
  try {
    if (closing.aborted) return;
    const info = await findStream(connection, options.stream);
    if (!info) throw noStream(options.stream);
    round.created = info.created;
    options.onStart?.(info);
    const reading = { core, options, round };
    await readStored(batches, reading, info);
    // The stream may have been created again between its lookup and the read.
    if (options.onCaughtUp) await checkStream(batches, reading);
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

function sequenceIn(notice: Uint8Array): number {
  const sequence = Number(Buffer.from(notice).toString("latin1"));
  return Number.isSafeInteger(sequence) ? sequence : 0;
}

const isOwed = ({ owed, noticed, next }: Round) => owed > 0 || noticed >= next;

type Reading = { core: Core; options: OrderedOptions; round: Round };

/** Reads everything up to now; sets `round.next` behind it. */
async function readStored(batches: BatchReader, reading: Reading, info: StreamInfo): Promise<void> {
  const { options, round } = reading;
  const { last_seq: last } = info.state;
  const start = options.startFrom();
  if ("at" in start) {
    round.next = start.at === "next" ? last + 1 : 1;
    if (start.at === "first") await readOn(batches, reading);
    return;
  }
  // When nothing was stored since then, reading continues behind the last message.
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
  // What was announced while the rest was read may have been stored behind it.
  round.owed = Math.min(1, round.owed);
  let tries = 0;
  let checkAt = Date.now() + options.heartbeatMs;
  while (!round.isOver) {
    const { hasNews } = round;
    round.hasNews = false;
    if (isOwed(round)) {
      const announced = round.owed;
      // What was read before it was announced is still counted: what is announced now does not wait for that.
      if (hasNews) tries = 0;
      const count = await readOn(batches, reading);
      tries = count > 0 ? 0 : tries + 1;
      // The stream rejected what was announced.
      const isGivenUp = tries >= confirmMs.length;
      round.owed = Math.max(0, round.owed - (isGivenUp ? announced : count));
      if (isGivenUp) {
        round.noticed = 0;
        tries = 0;
        // Or this is not the stream that it was announced in.
        checkAt = Date.now();
      }
    }
    if (!round.hasNews)
      await pause(round, isOwed(round) ? (confirmMs[tries] ?? 1) : Math.max(1, checkAt - Date.now()));
    if (round.isOver || Date.now() < checkAt) continue;
    checkAt = Date.now() + options.heartbeatMs;
    await checkStream(batches, reading);
  }
}

/** Finds messages that were not announced, and a stream that was created again. */
async function checkStream(batches: BatchReader, reading: Reading): Promise<void> {
  const { core, options, round } = reading;
  const info = await findStream(core.connection, options.stream);
  if (!info || info.created !== round.created || info.state.last_seq < round.next - 1) {
    round.isOver = true;
    return;
  }
  if (info.state.last_seq >= round.next) await readOn(batches, reading);
}

/** Ends early when the round is over and when a message is announced. */
function pause(round: Round, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      round.wake = () => {};
      resolve();
    };
    const timer = setTimeout(done, ms);
    round.wake = done;
    if (round.isOver) done();
  });
}
