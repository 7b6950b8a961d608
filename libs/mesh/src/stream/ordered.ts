// Reads a stream in order without acknowledgements: a push consumer of our own that is made anew after every gap,
// silence or reconnect. Views and live lines are built on it.

import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Msg, MsgHdrs } from "@nats-io/transport-node";
import { jetStreamApi, parsePlace } from "../connection/jetstream-api.ts";
import type { Core } from "../core.ts";

export type StreamMessage = {
  subject: string;
  /** A view into the receive buffer: copy what is kept. */
  body: Uint8Array;
  headers: MsgHdrs | undefined;
  sequence: number;
  timestampNs: bigint;
};

export type StartFrom =
  | { deliver_policy: "all" | "new" | "last_per_subject" }
  | { deliver_policy: "by_start_time"; opt_start_time: string };

export type OrderedOptions = {
  stream: string;
  filter: string;
  heartbeatMs: number;
  /** Asked before every start. */
  startFrom: () => StartFrom;
  /** Awaited before every round; a throw puts the round off. */
  beforeStart?: () => Promise<void>;
  /** A round begins: what was read since the last `onCaughtUp` may be incomplete. */
  onStart?: () => void;
  /** The server began to deliver at this time of its clock. */
  onDelivering?: (sinceNs: bigint) => void;
  onMessage: (message: StreamMessage) => void;
  /** Everything that was stored when the round began has been read. */
  onCaughtUp?: () => void;
};

export type OrderedReader = { close: () => Promise<void> };

const retryMs = { first: 50, last: 2_000 };
const inactiveMs = 30_000;
const nanos = (ms: number) => ms * 1e6;
const empty = new Uint8Array(0);

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

type Round = { end: () => void; ended: Promise<void>; sequence: number; seenAt: number; isCaughtUp: boolean };

function newRound(): Round {
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { end, ended, sequence: 0, seenAt: Date.now(), isCaughtUp: false };
}

// One consumer from its making to the first sign that it is not whole any more.
async function readRound(core: Core, options: OrderedOptions, closing: AbortSignal): Promise<void> {
  const { link } = core;
  const round = newRound();
  const name = `svc-${randomBytes(9).toString("hex")}`;
  const inbox = `${link.inboxPrefix}.${name}`;
  options.onStart?.();
  const subscription = link.subscribe(inbox, (message) => onDelivery(core, { options, round }, message));
  const forget = link.onReconnect(round.end);
  const watch = setInterval(() => {
    if (Date.now() - round.seenAt > options.heartbeatMs * 2.5) round.end();
  }, options.heartbeatMs);
  closing.addEventListener("abort", round.end, { once: true });
  try {
    const created = await createConsumer(core, options, { name, inbox });
    options.onDelivering?.(nanosOf(created.created));
    if (created.num_pending === 0 && round.sequence === 0) caughtUp(options, round);
    if (closing.aborted) round.end();
    await round.ended;
  } finally {
    clearInterval(watch);
    forget();
    closing.removeEventListener("abort", round.end);
    subscription.unsubscribe();
    if (link.isConnected())
      await jetStreamApi(link, `CONSUMER.DELETE.${options.stream}.${name}`).catch(() => {});
  }
}

type Place = { name: string; inbox: string };

function createConsumer(
  core: Core,
  options: OrderedOptions,
  place: Place,
): Promise<{ num_pending: number; created: string }> {
  const { stream, filter, heartbeatMs } = options;
  return jetStreamApi(core.link, `CONSUMER.CREATE.${stream}.${place.name}.${filter}`, {
    stream_name: stream,
    action: "create",
    config: {
      name: place.name,
      deliver_subject: place.inbox,
      filter_subject: filter,
      ack_policy: "none",
      max_deliver: 1,
      flow_control: true,
      idle_heartbeat: nanos(heartbeatMs),
      inactive_threshold: nanos(inactiveMs),
      mem_storage: true,
      num_replicas: 1,
      ...options.startFrom(),
    },
  });
}

type Reading = { options: OrderedOptions; round: Round };

function onDelivery(core: Core, reading: Reading, message: Msg): void {
  const { options, round } = reading;
  round.seenAt = Date.now();
  const place = message.reply ? parsePlace(message.reply) : undefined;
  if (!place) {
    onStatus(core, round, message);
    return;
  }
  if (place.consumerSequence !== round.sequence + 1) {
    round.end();
    return;
  }
  round.sequence = place.consumerSequence;
  options.onMessage({
    subject: message.subject,
    body: message.data,
    headers: message.headers,
    sequence: place.streamSequence,
    timestampNs: place.timestampNs,
  });
  if (place.pending === 0) caughtUp(options, round);
}

function caughtUp(options: OrderedOptions, round: Round): void {
  if (round.isCaughtUp) return;
  round.isCaughtUp = true;
  options.onCaughtUp?.();
}

// Flow control wants an answer; a heartbeat tells the last sequence, so that a lost tail is seen too.
function onStatus(core: Core, round: Round, message: Msg): void {
  const { headers } = message;
  const stalled = message.reply || headers?.get("Nats-Consumer-Stalled");
  const last = headers?.get("Nats-Last-Consumer");
  try {
    if (stalled) core.link.publish(stalled, empty);
    if (headers?.code === 100 && (!last || Number(last) === round.sequence)) return;
  } catch {
    // The connection is lost, and with it this round.
  }
  round.end();
}

/** Nanoseconds since 1970 of an RFC 3339 time with up to nine places. */
export function nanosOf(time: string): bigint {
  const [, fraction = ""] = /\.(\d+)/.exec(time) ?? [];
  const wholeMs = Math.floor(Date.parse(time) / 1_000) * 1_000;
  return BigInt(wholeMs) * 1_000_000n + BigInt(fraction.padEnd(9, "0").slice(0, 9));
}
