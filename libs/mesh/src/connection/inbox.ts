// Receives the replies of this process: one wildcard subscription; the last token of the subject names the request.

import { randomBytes } from "node:crypto";
import type { Msg, NatsConnection } from "@nats-io/transport-node";
import { header, inboxPrefix } from "@svc/proto";
import { ConnectionError } from "./connection-error.ts";
import { randomToken } from "./random-token.ts";

export type OutgoingRequest = {
  subject: string;
  body: Uint8Array;
  headers?: Uint8Array;
  /** Unix milliseconds. */
  deadlineAt: number;
  signal?: AbortSignal | undefined;
};

/** Either `onReply` or `onFailure` is called once, unless the request is forgotten before. */
export type ReplyListener = {
  onReply: (message: Msg) => void;
  onFailure: (error: ConnectionError) => void;
  /** Called while there is no reply, with milliseconds since the request was sent and since its owner was last heard. */
  onWait?: (waited: { sinceSentMs: number; quietMs: number }) => void;
};

type Pending = ReplyListener & {
  subject: string;
  deadlineAt: number;
  sweeps: number;
  quietSweeps: number;
};

/** Sends without waiting; throws `ConnectionError` when it cannot be sent. */
export type Publish = (
  subject: string,
  body: Uint8Array,
  options?: { headers?: Uint8Array; reply?: string },
) => void;

export type Inbox = {
  ask: (request: OutgoingRequest, listener: ReplyListener, publish: Publish) => () => void;
  fail: (matches: (pending: { subject: string }) => boolean, error: () => ConnectionError) => void;
  close: () => void;
};

const sweepMs = 25;

/** Subscribes to the inbox of this process. */
export function createInbox(client: NatsConnection, service: string): Inbox {
  const prefix = `${inboxPrefix(service)}.${randomBytes(9).toString("hex")}.`;
  const pendings = new Map<string, Pending>();
  let sweeper: NodeJS.Timeout | undefined;
  // A process that asks once in a while would otherwise wake a second time for every question.
  const restIfIdle = () => {
    if (pendings.size > 0) return;
    clearTimeout(sweeper);
    sweeper = undefined;
  };

  client.subscribe(`${prefix}*`, {
    callback: (error, message) => {
      if (error) return;
      const token = message.subject.slice(prefix.length);
      const pending = pendings.get(token);
      if (!pending) return;
      if (isHeartbeat(message)) {
        pending.quietSweeps = 0;
        return;
      }
      pendings.delete(token);
      restIfIdle();
      if (message.data.length === 0 && message.headers?.code === 503)
        pending.onFailure(new ConnectionError("no-responder", `no responder on ${pending.subject}`));
      else pending.onReply(message);
    },
  });

  const failSome = (matches: (pending: Pending) => boolean, error: () => ConnectionError) => {
    for (const [token, pending] of [...pendings]) {
      if (!matches(pending) || !pendings.delete(token)) continue;
      pending.onFailure(error());
    }
  };
  const sweep = () => {
    const now = Date.now();
    sweeper = undefined;
    failSome(
      (pending) => pending.deadlineAt <= now,
      () => new ConnectionError("timeout", "no reply before the deadline"),
    );
    for (const pending of [...pendings.values()]) countSweep(pending);
    if (pendings.size > 0) sweeper ??= setTimeout(sweep, sweepMs);
  };

  const ask: Inbox["ask"] = (outgoing, listener, publish) => {
    const { subject, body, headers, deadlineAt, signal } = outgoing;
    const token = randomToken();
    const pending: Pending = { ...listener, subject, deadlineAt, sweeps: 0, quietSweeps: 0 };
    const forget = () => void pendings.delete(token);
    if (signal?.aborted) {
      pending.onFailure(new ConnectionError("aborted", "the caller gave up"));
      return forget;
    }
    pendings.set(token, pending);
    const unbind = signal && failWith(signal, pending, forget);
    try {
      publish(subject, body, { reply: prefix + token, ...(headers ? { headers } : {}) });
      sweeper ??= setTimeout(sweep, sweepMs);
    } catch (error) {
      forget();
      pending.onFailure(error as ConnectionError);
    }
    if (!unbind) return forget;
    return () => {
      unbind();
      forget();
    };
  };

  const close = () => {
    clearTimeout(sweeper);
    failSome(
      () => true,
      () => new ConnectionError("lost", "this process closed its connection to NATS"),
    );
  };
  return { ask, fail: failSome, close };
}

function isHeartbeat(message: Msg): boolean {
  return message.data.length === 0 && message.headers?.has(header.heartbeat) === true;
}

// Counts sweeps, not milliseconds: while this process itself is stopped, others must not seem silent.
function countSweep(pending: Pending): void {
  pending.sweeps += 1;
  pending.quietSweeps += 1;
  pending.onWait?.({ sinceSentMs: pending.sweeps * sweepMs, quietMs: pending.quietSweeps * sweepMs });
}

function failWith(signal: AbortSignal, pending: Pending, forget: () => void): () => void {
  const { onReply, onFailure } = pending;
  const onAbort = () => {
    forget();
    onFailure(new ConnectionError("aborted", "the caller gave up"));
  };
  const unbind = () => signal.removeEventListener("abort", onAbort);
  signal.addEventListener("abort", onAbort, { once: true });
  pending.onReply = (message) => {
    unbind();
    onReply(message);
  };
  pending.onFailure = (error) => {
    unbind();
    onFailure(error);
  };
  return unbind;
}
