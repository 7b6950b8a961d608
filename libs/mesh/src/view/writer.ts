// The owner's side of a view: writes what differs, marks the view as current, and repairs what NATS lost.

import { setTimeout as delay } from "node:timers/promises";
import type { View } from "@svc/proto";
import type { ViewWriter, ViewWriterOptions } from "../api.ts";
import type { Core } from "../core.ts";
import { encodeJson } from "../json.ts";
import type { StreamMessage } from "../stream/direct-get.ts";
import { findStream, noStream } from "../stream/info.ts";
import {
  bucketFilter,
  bucketStream,
  isRemoval,
  keyOf,
  keySubject,
  metaKey,
  metaSubject,
  removalHeaders,
} from "../stream/key-value.ts";
import { type OrderedReader, openOrdered } from "../stream/ordered.ts";
import { store } from "../stream/publish.ts";
import { createRequests, type Requests } from "./catch-up.ts";
import { encodeMark } from "./mark.ts";
import { startMarking } from "./marking.ts";
import { isStored, type KnownEntry, reconcile } from "./snapshot.ts";

// Its own marks show sooner that the bucket is another one.
const readerHeartbeatMs = 30_000;
const inFlightLimit = 200;
const repairRetryMs = 1_000;

type Stored = { bytes: Uint8Array | undefined; sequence: number };

/**
 * What a round of reading found; `lastMark`: sequence of the last mark, ours or another writer's, 0 without one;
 * `markedAt`: when we began to store ours (monotonic).
 */
type Round = { created: string; lastMark: number; markedAt: number };

type State = {
  core: Core;
  view: View;
  known: Map<string, KnownEntry>;
  /** Our writes in progress, by key; anything read meanwhile is older. */
  writing: Map<string, number>;
  /** After the first `replace`. */
  isReplaced: boolean;
  /** Repairs in progress. */
  repairs: number;
  /** Undefined while the bucket is read and `known` is not compared with it yet. */
  round: Round | undefined;
  isClosed: boolean;
  options: ViewWriterOptions;
  marking: Promise<void> | undefined;
  requests: Requests;
  reader: OrderedReader | undefined;
};

/** Opens the bucket and reads it once; throws when NATS cannot be reached or `svc migrate up` has not created it. */
export async function writeView<V>(
  core: Core,
  view: View<V>,
  options: ViewWriterOptions = {},
): Promise<ViewWriter<V>> {
  const stream = bucketStream(view.name);
  if (!(await findStream(core.connection, stream))) throw noStream(stream);
  const state: State = {
    core,
    view: view as View,
    known: new Map(),
    writing: new Map(),
    isReplaced: false,
    repairs: 0,
    round: undefined,
    isClosed: false,
    options,
    marking: undefined,
    requests: createRequests(),
    reader: undefined,
  };
  const reader = await follow(state);
  const marking = startMarking(core, {
    view,
    mark: () => markInBackground(state),
    isRequest: state.requests.add,
  });
  const put = async (key: string, value: V) => {
    await write(state, key, encodeJson(view.value.parse(value)));
  };
  return {
    put,
    remove: async (key) => {
      await write(state, key, undefined);
    },
    replace: (entries) => replace(state, entries, marking.pauseMs),
    close: async () => {
      state.isClosed = true;
      marking.close();
      await reader.close();
    },
  };
}

async function replace<V>(
  state: State,
  entries: ReadonlyMap<string, V>,
  pauseMs: () => number,
): Promise<{ written: number; removed: number }> {
  const wanted = new Map<string, Uint8Array>();
  for (const [key, value] of entries) wanted.set(key, encodeJson(state.view.value.parse(value)));
  const changed = [...wanted.keys()].filter((key) => !isStored(state.known, key, wanted.get(key)));
  const gone = [...state.known]
    .filter(([key, { bytes }]) => bytes !== undefined && !wanted.has(key))
    .map(([key]) => key);
  await forEachInFlight([...changed, ...gone], (key) => write(state, key, wanted.get(key)));
  state.isReplaced = true;
  const result = { written: changed.length, removed: gone.length };
  const isChanged = result.written + result.removed > 0;
  // An owner that replaces the view every few seconds marks it no more often than any other.
  if (!isChanged && performance.now() - markedAt(state) < pauseMs()) return result;
  // The owner may be asked only once this call has ended: what it waits for may be the caller of this one.
  const { isCurrent, isWritten } = state.options;
  if (isCurrent ?? isWritten) setImmediate(() => markInBackground(state));
  else await markCurrent(state);
  return result;
}

function markedAt({ round }: State): number {
  return round?.markedAt ?? Number.NEGATIVE_INFINITY;
}

async function write(state: State, key: string, bytes: Uint8Array | undefined): Promise<void> {
  const { core, known, writing } = state;
  const subject = keySubject(state.view, key);
  if (isStored(known, key, bytes)) return;
  // Recorded before it is stored: a write that fails is repeated after the next reconnect.
  const mine: KnownEntry = { bytes, sequence: 0, isMine: true };
  known.set(key, mine);
  writing.set(key, (writing.get(key) ?? 0) + 1);
  try {
    const headers = bytes === undefined ? removalHeaders : {};
    const ack = await store(core, { subject, body: bytes ?? new Uint8Array(0), headers });
    mine.sequence = ack.seq ?? 0;
  } finally {
    const left = (writing.get(key) ?? 1) - 1;
    if (left > 0) writing.set(key, left);
    else writing.delete(key);
  }
}

function markCurrent(state: State): Promise<void> {
  if (state.marking !== undefined) return state.marking;
  const marking = storeMark(state).finally(() => {
    if (state.marking === marking) state.marking = undefined;
    // They came while this mark was made, so that it may lack what they ask for.
    if (state.requests.hasArrived() && !state.isClosed) markInBackground(state);
  });
  state.marking = marking;
  return marking;
}

function markInBackground(state: State): void {
  void markCurrent(state).catch(() => {});
}

const isWhole = (state: State) => state.isReplaced && state.repairs === 0 && !state.isClosed;

async function storeMark(state: State): Promise<void> {
  const { options, round } = state;
  // Before the owner is asked: a request that comes later is for the next mark.
  const { requests, isOpen } = state.requests.take();
  if (!round || !isWhole(state) || (options.isCurrent && !(await options.isCurrent()))) return;
  const isRefused = isOpen && (await options.isWritten?.()) === false;
  if (state.round !== round || !isWhole(state)) return;
  const size = [...state.known.values()].reduce((sum, { bytes }) => sum + (bytes === undefined ? 0 : 1), 0);
  // A bucket that was created again or emptied has another last mark or none, and rejects ours.
  const headers = { "Nats-Expected-Last-Subject-Sequence": String(round.lastMark) };
  const body = encodeMark({ bucket: round.created, size, caughtUp: isRefused ? undefined : requests });
  const message = { subject: metaSubject(state.view), body, headers };
  const startedAt = performance.now();
  try {
    const ack = await store(state.core, message);
    sawMark(round, ack.seq ?? 0);
    round.markedAt = startedAt;
    if (!isRefused) state.requests.vouched();
  } catch (error) {
    if (state.round === round) state.reader?.restart();
    throw error;
  }
}

function sawMark(round: Round, sequence: number): void {
  round.lastMark = Math.max(round.lastMark, sequence);
}

function newRound(created: string): Round {
  return { created, lastMark: 0, markedAt: Number.NEGATIVE_INFINITY };
}

// Reads the bucket as a mirror does, to learn other writers' changes and to find what NATS lost.
async function follow(state: State): Promise<OrderedReader> {
  const { core, view } = state;
  let snapshot: Map<string, Stored> | undefined;
  let comparedWith: string | undefined;
  let round: Round = newRound("");
  let opened = () => {};
  const firstRead = new Promise<void>((resolve) => {
    opened = resolve;
  });
  const reader = openOrdered(core, {
    stream: bucketStream(view.name),
    filter: bucketFilter(view),
    heartbeatMs: readerHeartbeatMs,
    startFrom: () => ({ at: "first" }),
    onStart: ({ created }) => {
      round = newRound(created);
      snapshot = new Map();
      state.round = undefined;
      // A mark that a deleted bucket never acknowledges holds up none in the next one.
      state.marking = undefined;
    },
    onForeign: (message) => {
      const key = keyOf(view, message);
      if (key === metaKey) return sawMark(round, message.sequence);
      // A snapshot treats the key as missing, so its known value is written again.
      if (!snapshot && state.known.has(key)) void repair(state, [key]);
    },
    onMessage: (message) => {
      const key = keyOf(view, message);
      if (key === metaKey) return sawMark(round, message.sequence);
      const stored = storedOf(message);
      if (snapshot) snapshot.set(key, stored);
      else learn(state, key, stored);
    },
    onCaughtUp: () => {
      const isNewBucket = comparedWith !== undefined && round.created !== comparedWith;
      const lost = reconcile(state.known, snapshot ?? new Map(), isNewBucket);
      comparedWith = round.created;
      state.round = round;
      snapshot = undefined;
      opened();
      if (lost.length > 0) void repair(state, lost);
      else markInBackground(state);
    },
  });
  state.reader = reader;
  await firstRead;
  return reader;
}

function storedOf(message: StreamMessage): Stored {
  return { bytes: isRemoval(message) ? undefined : message.body.slice(), sequence: message.sequence };
}

function learn(state: State, key: string, stored: Stored): void {
  if (state.writing.has(key)) return;
  const current = state.known.get(key);
  if (current && current.sequence >= stored.sequence) return;
  state.known.set(key, { ...stored, isMine: false });
  state.options.onForeignChange?.(key);
}

// Until then the view is not marked as current, so that no mirror takes a partly written bucket for the whole.
async function repair(state: State, lost: readonly string[]): Promise<void> {
  const { core, view, known } = state;
  state.repairs += 1;
  core.log.warn({ view: view.name, keys: lost.length }, "NATS lost part of a view; rewriting it");
  for (const key of lost) known.set(key, { bytes: known.get(key)?.bytes, sequence: 0, isMine: true });
  while (!state.isClosed && !core.closing.aborted) {
    try {
      await forEachInFlight(lost, (key) => write(state, key, known.get(key)?.bytes));
      state.repairs -= 1;
      return markInBackground(state);
    } catch (error) {
      core.log.warn({ view: view.name, error: (error as Error).message }, "view repair failed; retrying");
      await delay(repairRetryMs, undefined, { signal: core.closing }).catch(() => {});
    }
  }
}

async function forEachInFlight(keys: readonly string[], work: (key: string) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let key = keys[next++]; key !== undefined; key = keys[next++]) await work(key);
  };
  await Promise.all(Array.from({ length: Math.min(inFlightLimit, keys.length) }, worker));
}
