// Durable consumers (docs/reference/mesh.md#events): pulled, acknowledged one by one, never lost silently.

import { setTimeout as delay } from "node:timers/promises";
import type { Msg } from "@nats-io/transport-node";
import type { ConsumeOptions } from "../api.ts";
import { randomToken } from "../connection/random-token.ts";
import type { Core } from "../core.ts";
import { encodeJson, textOf } from "../json.ts";
import {
  apiCode,
  type DeliveryPlace,
  isApiCode,
  jetStreamApi,
  msOf,
  parsePlace,
} from "../stream/jetstream-api.ts";
import { idHeader, isPublished } from "../stream/publisher.ts";
import { writeDeadLetter } from "./dead-letters.ts";
import { decideRedelivery, type Redelivery } from "./redelivery.ts";

const stillWorkingMs = 10_000;
const pullExpiresMs = 30_000;
const heartbeatMs = 10_000;
const silenceMs = 25_000;
const retryMs = { first: 200, last: 5_000 };
const defaults = { maxInFlight: 32, maxAttempts: 20 };
const nanos = (ms: number) => ms * 1e6;
const encoder = new TextEncoder();

export type Consumer = {
  /** Resolves when the durable was found or the first lookup failed (it keeps trying). */
  started: Promise<void>;
  /** Accepts no more messages and resolves when those in progress have ended. */
  stop: () => Promise<void>;
};

/** Consumes until stopped, over restarts of NATS and before the stream exists. */
export function startConsumer<D>(core: Core, options: ConsumeOptions<D>): Consumer {
  core.metrics.consumer(options.durable);
  const stopping = new AbortController();
  const pull = createPull(core, options as ConsumeOptions<unknown>, stopping.signal);
  const firstLookup = Promise.withResolvers<void>();
  const running = (async () => {
    let waitMs = retryMs.first;
    while (!stopping.signal.aborted) {
      try {
        await findDurable(core, options);
        waitMs = retryMs.first;
        firstLookup.resolve();
        await pull.session();
      } catch (error) {
        firstLookup.resolve();
        const about = { durable: options.durable, stream: options.stream, error: (error as Error).message };
        if (waitMs === retryMs.first) core.log.warn(about, "consumer cannot start; retrying");
      }
      await delay(waitMs, undefined, { signal: stopping.signal }).catch(() => {});
      waitMs = Math.min(waitMs * 2, retryMs.last);
    }
  })();
  return {
    started: firstLookup.promise,
    stop: async () => {
      stopping.abort();
      await running;
      await pull.end();
    },
  };
}

/** `svc migrate up` creates it; until then there is nothing to pull from. */
async function findDurable<D>(core: Core, { stream, durable }: ConsumeOptions<D>): Promise<void> {
  try {
    await jetStreamApi(core.connection, `CONSUMER.INFO.${stream}.${durable}`);
  } catch (error) {
    if (!isApiCode(error, apiCode.consumerNotFound) && !isApiCode(error, apiCode.streamNotFound)) throw error;
    throw new Error(`NATS has no consumer ${durable} of ${stream}: run \`svc migrate up\``);
  }
}

type Pull = {
  /** Pulls until the consumer has to be looked up again: after silence, a reconnect, a missing consumer, or a stop. */
  session: () => Promise<void>;
  end: () => Promise<void>;
};

function createPull(core: Core, options: ConsumeOptions<unknown>, stopped: AbortSignal): Pull {
  const maxInFlight = options.maxInFlight ?? defaults.maxInFlight;
  const inbox = `${core.connection.inboxPrefix}.${randomToken()}`;
  const nextSubject = `$JS.API.CONSUMER.MSG.NEXT.${options.stream}.${options.durable}`;
  const running = new Map<Msg, Promise<void>>();
  const state = { wanted: 0, seenAt: 0, endSession: () => {} };

  const askForMore = () => {
    const free = maxInFlight - running.size;
    if (stopped.aborted || state.wanted > 0 || free < maxInFlight / 2) return;
    const request = { batch: free, expires: nanos(pullExpiresMs), idle_heartbeat: nanos(heartbeatMs) };
    try {
      core.connection.publish(nextSubject, encodeJson(request), { reply: inbox });
      state.wanted = free;
    } catch {
      state.endSession();
    }
  };
  const subscription = core.connection.subscribe(inbox, (message) => {
    state.seenAt = Date.now();
    const place = message.reply ? parsePlace(message.reply) : undefined;
    if (!place) return onStatus(message.headers?.code ?? 0);
    state.wanted = Math.max(0, state.wanted - 1);
    if (stopped.aborted) return acknowledge(core, message, "-NAK");
    const work = handle(core, options, { message, place }).finally(() => {
      running.delete(message);
      askForMore();
    });
    running.set(message, work);
    askForMore();
  });
  const onStatus = (code: number) => {
    if (code === 100) return;
    state.wanted = 0;
    // 404 and 408 end one pull; anything else means that the consumer may be gone.
    if (code === 404 || code === 408) askForMore();
    else state.endSession();
  };
  const stayAlive = setInterval(() => {
    for (const message of running.keys()) acknowledge(core, message, "+WPI");
  }, stillWorkingMs);

  return {
    session: () =>
      new Promise((resolve) => {
        state.wanted = 0;
        state.seenAt = Date.now();
        const watch = setInterval(() => {
          if (Date.now() - state.seenAt > silenceMs && state.wanted > 0) state.endSession();
        }, heartbeatMs);
        const forget = core.connection.onReconnect(() => state.endSession());
        state.endSession = () => {
          clearInterval(watch);
          forget();
          stopped.removeEventListener("abort", state.endSession);
          resolve();
        };
        stopped.addEventListener("abort", state.endSession, { once: true });
        if (stopped.aborted) state.endSession();
        else askForMore();
      }),
    end: async () => {
      while (running.size > 0) await Promise.all(running.values());
      clearInterval(stayAlive);
      subscription.unsubscribe();
    },
  };
}

type Arrived = { message: Msg; place: DeliveryPlace };

async function handle(core: Core, options: ConsumeOptions<unknown>, arrived: Arrived): Promise<void> {
  const { message, place } = arrived;
  const maxAttempts = options.maxAttempts ?? defaults.maxAttempts;
  try {
    // A message that kills its process never fails in a handler; only the delivery count shows it.
    if (place.deliveries > maxAttempts)
      throw new Error(`delivered ${place.deliveries} times and never acknowledged`);
    if (!isPublished(message.headers, "delivered")) throw new Error("no service published this message");
    await options.handle({
      data: options.parse(JSON.parse(textOf(message.data))),
      subject: message.subject,
      id: message.headers?.get(idHeader) || `${place.stream}-${place.streamSequence}`,
      at: new Date(msOf(place.timestampNs)),
      attempt: place.deliveries,
      signal: core.closing,
    });
    acknowledge(core, message, "+ACK");
  } catch (error) {
    await settle(core, {
      options,
      arrived,
      error,
      redelivery: decideRedelivery(error, place.deliveries, maxAttempts),
    });
  }
}

type Failed = { options: ConsumeOptions<unknown>; arrived: Arrived; error: unknown; redelivery: Redelivery };

async function settle(core: Core, failed: Failed): Promise<void> {
  const { options, arrived, error, redelivery } = failed;
  const { message, place } = arrived;
  const { durable } = options;
  const text = error instanceof Error ? error.message : String(error);
  const about = {
    durable,
    subject: message.subject,
    sequence: place.streamSequence,
    attempt: place.deliveries,
  };
  if (redelivery.kind === "later") {
    core.metrics.redelivery(durable);
    core.log.info(
      { ...about, error: text, delay_ms: redelivery.delayMs },
      "message handling failed; retrying later",
    );
    return acknowledge(core, message, nakAfter(redelivery.delayMs));
  }
  try {
    await writeDeadLetter(core, {
      durable,
      stream: place.stream,
      subject: message.subject,
      sequence: place.streamSequence,
      attempts: place.deliveries,
      error: text,
      body: message.data,
    });
  } catch {
    return acknowledge(core, message, nakAfter(5_000));
  }
  core.metrics.deadLetter(durable);
  core.log.error({ ...about, err: error }, "message handling failed for good; stored as a dead letter");
  acknowledge(core, message, "+TERM");
}

function nakAfter(delayMs: number): string {
  return `-NAK ${JSON.stringify({ delay: nanos(delayMs) })}`;
}

function acknowledge(core: Core, message: Msg, what: string): void {
  if (!message.reply) return;
  try {
    core.connection.publish(message.reply, encoder.encode(what));
  } catch {
    // The connection is lost: the message is delivered again after the acknowledgement wait.
  }
}
