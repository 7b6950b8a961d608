// One NATS connection as the rest of this library uses it: publish, subscribe, and one inbox for all replies.

import { errors, type Msg, type NatsConnection, type Subscription } from "@nats-io/transport-node";
import { inboxPrefix } from "@svc/proto";
import type { Logger } from "@svc/telemetry";
import type { MeshStatus } from "../api.ts";
import { ConnectionError } from "./connection-error.ts";
import { asClientHeaders } from "./headers.ts";
import { createInbox, type Inbox, type OutgoingRequest, type Publish, type ReplyListener } from "./inbox.ts";

export type Listening = { unsubscribe: () => void; drain: () => Promise<void> };

export type Connection = {
  readonly client: NatsConnection;
  readonly inboxPrefix: string;
  isConnected: () => boolean;
  status: () => MeshStatus;
  /** Largest message (headers and body) in bytes that the server accepts. */
  maxPayloadBytes: () => number;
  publish: Publish;
  /** As `publish`, for messages that may be lost: false when it cannot be sent. */
  tryPublish: (subject: string, body: Uint8Array, headers?: Uint8Array) => boolean;
  /** Sends and waits for one reply; rejects with `ConnectionError`. */
  request: (request: OutgoingRequest) => Promise<Msg>;
  /** Sends and reports the outcome to `listener`, at once when it cannot be sent. Returns a function that forgets it. */
  ask: (request: OutgoingRequest, listener: ReplyListener) => () => void;
  subscribe: (subject: string, onMessage: (message: Msg) => void, queue?: string) => Listening;
  /** Calls back after every reconnect. Returns a function that ends it. */
  onReconnect: (listener: () => void) => () => void;
  /** Resolves once there is a connection: true, or false when it has been away for longer than another server takes. */
  whenBack: () => Promise<boolean>;
  close: () => Promise<void>;
};

/** A cluster without one of its servers serves again within this time; requests wait for it. */
const switchWithinMs = 1_000;

/** Wraps an open connection. */
export function createConnection(client: NatsConnection, log: Logger, service: string): Connection {
  const state = { connected: true, reconnects: 0, lostAt: 0 };
  const listeners = new Set<() => void>();
  const inbox = createInbox(client, service);
  void watch({ client, log, state, inbox, listeners });
  const fitsPayload = (bytes: number) => bytes <= maxPayloadBytes(client);

  const publish: Publish = (subject, body, options = {}) => {
    if (!state.connected) throw new ConnectionError("unsent", "the connection to NATS is lost");
    if (!fitsPayload(body.length + (options.headers?.length ?? 0)))
      throw new ConnectionError(
        "too-large",
        `a message of ${body.length} bytes exceeds the payload limit of NATS`,
      );
    const { reply, headers } = options;
    try {
      client.publish(subject, body, {
        ...(reply === undefined ? {} : { reply }),
        ...(headers === undefined ? {} : { headers: asClientHeaders(headers) }),
      });
    } catch (error) {
      throw new ConnectionError("unsent", error instanceof Error ? error.message : String(error));
    }
  };

  return {
    client,
    inboxPrefix: inboxPrefix(service),
    isConnected: () => state.connected,
    status: () => ({
      connected: state.connected,
      server: client.getServer(),
      reconnects: state.reconnects,
    }),
    maxPayloadBytes: () => maxPayloadBytes(client),
    publish,
    tryPublish: (subject, body, headers) => {
      try {
        publish(subject, body, headers ? { headers } : {});
        return true;
      } catch {
        return false;
      }
    },
    request: (request) =>
      new Promise((onReply, onFailure) => inbox.ask(request, { onReply, onFailure }, publish)),
    ask: (request, listener) => inbox.ask(request, listener, publish),
    subscribe: (subject, onMessage, queue) => subscribe(client, { subject, onMessage, queue, log }),
    onReconnect: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    whenBack: () => {
      const leftMs = state.lostAt + switchWithinMs - performance.now();
      if (state.connected || leftMs <= 0 || client.isClosed()) return Promise.resolve(state.connected);
      return new Promise((resolve) => {
        const settle = (isBack: boolean) => {
          clearTimeout(timer);
          listeners.delete(onBack);
          resolve(isBack);
        };
        const onBack = () => settle(true);
        const timer = setTimeout(settle, leftMs, false);
        listeners.add(onBack);
      });
    },
    close: async () => {
      inbox.close();
      await client.close();
    },
  };
}

function maxPayloadBytes(client: NatsConnection): number {
  return client.info?.max_payload ?? 1_048_576;
}

function subscribe(
  client: NatsConnection,
  options: { subject: string; onMessage: (message: Msg) => void; queue: string | undefined; log: Logger },
): Listening {
  const { subject, queue, onMessage, log } = options;
  const subscription: Subscription = client.subscribe(subject, {
    ...(queue === undefined ? {} : { queue }),
    callback: (error, message) => {
      if (error) {
        log.error({ subject, error: error.message }, "NATS closed a subscription");
        return;
      }
      try {
        onMessage(message);
      } catch (failure) {
        // A throw would end the reader of the whole connection. A request from before the connection was lost can no
        // longer be answered, and its caller knows.
        const level = failure instanceof ConnectionError && failure.kind === "unsent" ? "debug" : "error";
        log[level]({ subject, err: failure }, "message handler failed");
      }
    },
  });
  return {
    unsubscribe: () => {
      if (!client.isClosed()) subscription.unsubscribe();
    },
    drain: async () => {
      if (!client.isClosed() && !subscription.isClosed()) await subscription.drain();
    },
  };
}

type Watched = {
  client: NatsConnection;
  log: Logger;
  /** `lostAt`: of `performance.now()`. */
  state: { connected: boolean; reconnects: number; lostAt: number };
  inbox: Inbox;
  listeners: Set<() => void>;
};

async function watch({ client, log, state, inbox, listeners }: Watched): Promise<void> {
  for await (const status of client.status()) {
    if (status.type === "disconnect") {
      if (state.connected) log.warn("lost the connection to NATS; reconnecting");
      if (state.connected) state.lostAt = performance.now();
      state.connected = false;
      inbox.fail(
        () => true,
        () => new ConnectionError("lost", "the connection to NATS was lost"),
      );
    } else if (status.type === "reconnect") {
      state.connected = true;
      state.reconnects += 1;
      log.info({ server: client.getServer() }, "reconnected to NATS");
      for (const listener of listeners) listener();
    } else if (status.type === "error") {
      onServerError(status.error, log, inbox);
    }
  }
  state.connected = false;
}

function onServerError(error: Error, log: Logger, inbox: Inbox): void {
  if (!(error instanceof errors.PermissionViolationError)) {
    log.warn({ error: error.message }, "NATS reported an error");
    return;
  }
  const { operation, subject } = error;
  log.error({ operation, subject }, "NATS denied permission for a subject");
  if (operation !== "publish") return;
  inbox.fail(
    (pending) => pending.subject === subject,
    () => new ConnectionError("denied", `this service may not publish to ${subject}`),
  );
}
