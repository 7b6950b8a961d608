// Stores messages in JetStream: many in flight at once, done when all are acknowledged.

import { Fault, isFault } from "@svc/proto";
import type { Outgoing } from "../api.ts";
import { ConnectionError } from "../connection/connection-error.ts";
import { encodeHeaders, type HeaderValues } from "../connection/headers.ts";
import type { Core } from "../core.ts";
import { idHeader, publisherHeaders } from "./publisher.ts";

const inFlightLimit = 100;
const ackWithinMs = 10_000;

type PubAck = { stream?: string; seq?: number; duplicate?: boolean; error?: { description: string } };

/** Stores one message; throws the fault `unavailable`, or `internal` when it is over the payload limit. */
export async function store(
  core: Core,
  message: { subject: string; body: Uint8Array; headers: HeaderValues },
): Promise<PubAck> {
  const { subject, body, headers } = message;
  try {
    const reply = await core.connection.request({
      subject,
      body,
      headers: encodeHeaders({ ...headers, ...publisherHeaders(core), ...dedupId(core, headers) }),
      deadlineAt: Date.now() + ackWithinMs,
    });
    const ack = reply.json<PubAck>();
    if (ack.error)
      throw new Fault("unavailable", { cause: new Error(`${subject}: ${ack.error.description}`) });
    return ack;
  } catch (error) {
    if (isFault(error)) throw error;
    if (!(error instanceof ConnectionError) || error.kind !== "too-large")
      throw new Fault("unavailable", { cause: error });
    core.log.error(
      { subject, bytes: body.length },
      "a message exceeds the payload limit of NATS and cannot be stored",
    );
    throw new Fault("internal", { cause: error });
  }
}

/**
 * NATS drops a message whose id it has seen recently, and the ids of an outbox can be guessed: whoever stored one in
 * another service's stream first would suppress it. So ids are keyed with the service's password.
 */
function dedupId(core: Core, headers: HeaderValues): HeaderValues {
  const id = headers["Nats-Msg-Id"];
  return id === undefined ? {} : { "Nats-Msg-Id": core.keyed(id), [idHeader]: id };
}

/** Stores all messages; after the first failure it starts no more, and throws when nothing is in flight. */
export async function publishAll(core: Core, messages: readonly Outgoing[]): Promise<void> {
  let next = 0;
  let failure: unknown;
  const worker = async () => {
    while (failure === undefined) {
      const message = messages[next++];
      if (!message) return;
      const headers = { ...message.headers, "Nats-Msg-Id": message.id };
      try {
        await store(core, { subject: message.subject, body: message.body, headers });
      } catch (error) {
        failure ??= error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(inFlightLimit, messages.length) }, worker));
  if (failure !== undefined) throw failure;
}
