// One NATS connection as the rest of this library uses it: publish, subscribe and a single inbox for all replies.

import { randomBytes } from "node:crypto";
import { errors, type Msg, type NatsConnection, type Subscription } from "@nats-io/transport-node";
import { inboxPrefix } from "@svc/proto";
import type { Logger } from "@svc/telemetry";
import type { MeshStatus } from "../api.ts";
import { asClientHeaders } from "./headers.ts";

export type LinkFailure = "no-responder" | "timeout" | "lost" | "denied" | "too-large" | "aborted";

/** Why a request got no reply; `kind` decides whether it may be sent again. */
export class LinkError extends Error {
  readonly kind: LinkFailure;
  constructor(kind: LinkFailure, message: string) {
    super(message);
    this.name = "LinkError";
    this.kind = kind;
  }
}

export type OutgoingRequest = {
  subject: string;
  body: Uint8Array;
  headers?: Uint8Array;
  /** Unix milliseconds. */
  deadlineAt: number;
  signal?: AbortSignal | undefined;
};

export type Listening = { unsubscribe: () => void; drain: () => Promise<void> };

export type Link = {
  readonly connection: NatsConnection;
  readonly inboxPrefix: string;
  isConnected: () => boolean;
  status: () => MeshStatus;
  /** Largest message (headers and body) in bytes that the server takes. */
  maxPayloadBytes: () => number;
  /** Sends without waiting; throws `LinkError` when it cannot be sent. */
  publish: (subject: string, body: Uint8Array, options?: { headers?: Uint8Array; reply?: string }) => void;
  /** Sends and waits for one reply; rejects with `LinkError`. */
  request: (request: OutgoingRequest) => Promise<Msg>;
  subscribe: (subject: string, onMessage: (message: Msg) => void, queue?: string) => Listening;
  /** Calls back after every reconnect; returns the end of that. */
  onReconnect: (listener: () => void) => () => void;
  close: () => Promise<void>;
};

type Pending = {
  subject: string;
  deadlineAt: number;
  resolve: (message: Msg) => void;
  reject: (error: LinkError) => void;
};

const sweepMs = 25;

/** Wraps an open connection; `onReconnected` counts reconnects for metrics. */
export function createLink(connection: NatsConnection, log: Logger, service: string): Link {
  const state = { connected: true, reconnects: 0 };
  const listeners = new Set<() => void>();
  const inbox = createInbox(connection, service);
  void watch({ connection, log, state, inbox, listeners });
  const fitsPayload = (bytes: number) => bytes <= maxPayloadBytes(connection);

  const publish: Link["publish"] = (subject, body, options = {}) => {
    if (!state.connected) throw new LinkError("lost", "the connection to NATS is lost");
    if (!fitsPayload(body.length + (options.headers?.length ?? 0)))
      throw new LinkError("too-large", `a message of ${body.length} bytes is over the limit of NATS`);
    const { reply, headers } = options;
    try {
      connection.publish(subject, body, {
        ...(reply === undefined ? {} : { reply }),
        ...(headers === undefined ? {} : { headers: asClientHeaders(headers) }),
      });
    } catch (error) {
      throw new LinkError("lost", error instanceof Error ? error.message : String(error));
    }
  };

  return {
    connection,
    inboxPrefix: inboxPrefix(service),
    isConnected: () => state.connected,
    status: () => ({
      connected: state.connected,
      server: connection.getServer(),
      reconnects: state.reconnects,
    }),
    maxPayloadBytes: () => maxPayloadBytes(connection),
    publish,
    request: (request) => inbox.request(request, publish),
    subscribe: (subject, onMessage, queue) => subscribe(connection, { subject, onMessage, queue, log }),
    onReconnect: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: async () => {
      inbox.close();
      await connection.close();
    },
  };
}

function maxPayloadBytes(connection: NatsConnection): number {
  return connection.info?.max_payload ?? 1_048_576;
}

function subscribe(
  connection: NatsConnection,
  options: { subject: string; onMessage: (message: Msg) => void; queue: string | undefined; log: Logger },
): Listening {
  const { subject, queue, onMessage, log } = options;
  const subscription: Subscription = connection.subscribe(subject, {
    ...(queue === undefined ? {} : { queue }),
    callback: (error, message) => {
      if (error) {
        log.error({ subject, error: error.message }, "NATS ended a subscription");
        return;
      }
      try {
        onMessage(message);
      } catch (failure) {
        // A throw would end the reader of the whole connection.
        log.error({ subject, err: failure }, "a message could not be taken");
      }
    },
  });
  return {
    unsubscribe: () => {
      if (!connection.isClosed()) subscription.unsubscribe();
    },
    drain: async () => {
      if (!connection.isClosed() && !subscription.isClosed()) await subscription.drain();
    },
  };
}

type Inbox = {
  request: (request: OutgoingRequest, publish: Link["publish"]) => Promise<Msg>;
  fail: (matches: (pending: Pending) => boolean, error: () => LinkError) => void;
  close: () => void;
};

// All replies of this process come back on one wildcard subscription; the last token of the subject finds the caller.
function createInbox(connection: NatsConnection, service: string): Inbox {
  const prefix = `${inboxPrefix(service)}.${randomBytes(9).toString("hex")}.`;
  const pendings = new Map<string, Pending>();
  let sweeper: NodeJS.Timeout | undefined;

  connection.subscribe(`${prefix}*`, {
    callback: (error, message) => {
      if (error) return;
      const token = message.subject.slice(prefix.length);
      const pending = pendings.get(token);
      if (!pending) return;
      pendings.delete(token);
      if (message.data.length === 0 && message.headers?.code === 503)
        pending.reject(new LinkError("no-responder", `nothing answers ${pending.subject}`));
      else pending.resolve(message);
    },
  });

  const fail: Inbox["fail"] = (matches, error) => {
    for (const [token, pending] of pendings) {
      if (!matches(pending)) continue;
      pendings.delete(token);
      pending.reject(error());
    }
  };
  const sweep = () => {
    const now = Date.now();
    fail(
      (pending) => pending.deadlineAt <= now,
      () => new LinkError("timeout", "no reply came before the deadline"),
    );
    sweeper = pendings.size > 0 ? setTimeout(sweep, sweepMs) : undefined;
  };

  const request: Inbox["request"] = (outgoing, publish) =>
    new Promise((resolve, reject) => {
      if (outgoing.signal?.aborted) return reject(new LinkError("aborted", "the caller gave up"));
      const token = unguessable();
      const pending: Pending = {
        subject: outgoing.subject,
        deadlineAt: outgoing.deadlineAt,
        resolve,
        reject,
      };
      if (outgoing.signal) abortWith(outgoing.signal, pending, () => pendings.delete(token));
      pendings.set(token, pending);
      try {
        const { headers } = outgoing;
        publish(outgoing.subject, outgoing.body, { reply: prefix + token, ...(headers ? { headers } : {}) });
      } catch (error) {
        pendings.delete(token);
        return pending.reject(error as LinkError);
      }
      sweeper ??= setTimeout(sweep, sweepMs);
    });

  const close = () => {
    clearTimeout(sweeper);
    fail(
      () => true,
      () => new LinkError("lost", "this process closed its connection to NATS"),
    );
  };
  return { request, fail, close };
}

const tokenBytes = 12;
let pool = Buffer.alloc(0);
let used = 0;

/**
 * Part of a subject that only those can publish to who were told of it: nobody but the one who was asked can answer,
 * although every owner may publish below the inbox of its callers, and NATS to any subject that a request names.
 */
export function unguessable(): string {
  if (used + tokenBytes > pool.length) {
    pool = randomBytes(tokenBytes * 256);
    used = 0;
  }
  used += tokenBytes;
  return pool.toString("base64url", used - tokenBytes, used);
}

function abortWith(signal: AbortSignal, pending: Pending, forget: () => void): void {
  const { resolve, reject } = pending;
  const onAbort = () => {
    forget();
    reject(new LinkError("aborted", "the caller gave up"));
  };
  signal.addEventListener("abort", onAbort, { once: true });
  pending.resolve = (message) => {
    signal.removeEventListener("abort", onAbort);
    resolve(message);
  };
  pending.reject = (error) => {
    signal.removeEventListener("abort", onAbort);
    reject(error);
  };
}

type Watched = {
  connection: NatsConnection;
  log: Logger;
  state: { connected: boolean; reconnects: number };
  inbox: Inbox;
  listeners: Set<() => void>;
};

async function watch({ connection, log, state, inbox, listeners }: Watched): Promise<void> {
  for await (const status of connection.status()) {
    if (status.type === "disconnect") {
      if (state.connected) log.warn("the connection to NATS is lost; reconnecting");
      state.connected = false;
      inbox.fail(
        () => true,
        () => new LinkError("lost", "the connection to NATS was lost"),
      );
    } else if (status.type === "reconnect") {
      state.connected = true;
      state.reconnects += 1;
      log.info({ server: connection.getServer() }, "connected to NATS again");
      for (const listener of listeners) listener();
    } else if (status.type === "error") {
      onServerError(status.error, log, inbox);
    }
  }
  state.connected = false;
}

function onServerError(error: Error, log: Logger, inbox: Inbox): void {
  if (!(error instanceof errors.PermissionViolationError)) {
    log.warn({ error: error.message }, "NATS reports an error");
    return;
  }
  const { operation, subject } = error;
  log.error({ operation, subject }, "NATS refused this: the service has no permission for the subject");
  if (operation !== "publish") return;
  inbox.fail(
    (pending) => pending.subject === subject,
    () => new LinkError("denied", `this service may not publish to ${subject}`),
  );
}
