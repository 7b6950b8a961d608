// Answering contracts (docs/reference/mesh.md#back-pressure): one queue subscription each, a limit in flight, both bodies checked.

import type { Msg } from "@nats-io/transport-node";
import { type AnyContract, Fault, header, instanceFilter, isFault } from "@svc/proto";
import type { Handler, Mesh } from "../api.ts";
import { ConnectionError } from "../connection/connection-error.ts";
import type { Listening } from "../connection/nats-connection.ts";
import type { Core } from "../core.ts";
import { bytesOf } from "../encoded.ts";
import { encodeJson, textOf } from "../json.ts";
import type { ContractMeter } from "../metrics.ts";
import { createContext } from "./context.ts";
import { createEndpoint, type Endpoint } from "./endpoint.ts";
import { explainIssues } from "./explain.ts";
import { createHeartbeats, type Heartbeats } from "./heartbeats.ts";
import { type Answer, answerOnce } from "./idempotency.ts";
import { noteUndeclaredFault } from "./undeclared-fault.ts";
import {
  decodeEnvelope,
  type Envelope,
  encodeFault,
  encodeReplyExtras,
  isTooLate,
  noResponderHeaders,
} from "./wire.ts";

const empty = new Uint8Array(0);
const nothing = encodeJson(null);

type Serving = {
  serve: Mesh["serve"];
  endpoints: ReadonlyMap<string, Endpoint>;
  /** Accepts no more requests; those already delivered are still answered. */
  stop: () => Promise<void>;
  /** Resolves when nothing is in flight. */
  idle: () => Promise<void>;
};

type Served = {
  endpoint: Endpoint;
  handler: Handler<AnyContract>;
  meter: ContractMeter;
  heartbeats: Heartbeats;
};

/** The answering side of a mesh. */
export function createServing(core: Core): Serving {
  const endpoints = new Map<string, Endpoint>();
  const subscriptions: Listening[] = [];
  const running = new Set<Promise<void>>();
  const heartbeats = createHeartbeats(core);
  const byContract = new Map<string, Served>();

  const onMessage = (served: Served, message: Msg): void => {
    if (!isFromCaller(served.endpoint, message.reply)) {
      core.metrics.foreignRequest(served.endpoint.contract.subject);
      const about = { subject: served.endpoint.subject, reply: message.reply?.slice(0, 200) };
      core.log.warn(about, "request rejected: not sent by a caller of its contract");
      return;
    }
    const work = answer(core, served, message).finally(() => running.delete(work));
    running.add(work);
  };
  // Requests sent to this replica alone. A contract that it does not serve (it may be an older version) is answered as
  // NATS answers without a responder, so that the caller asks another replica.
  const listenAsInstance = () =>
    core.connection.subscribe(instanceFilter(core.service, core.instance), (message) => {
      const served = byContract.get(message.subject.slice(0, message.subject.lastIndexOf(".")));
      if (served) onMessage(served, message);
      else if (message.reply?.startsWith("_INBOX_"))
        core.connection.tryPublish(message.reply, empty, noResponderHeaders);
    });
  return {
    serve: (contract, handler) => {
      if (endpoints.has(contract.subject)) throw new Error(`${contract.subject} is served twice`);
      const endpoint = createEndpoint(contract);
      endpoints.set(contract.subject, endpoint);
      const meter = core.metrics.served(contract.subject);
      const served: Served = { endpoint, handler: handler as Handler<AnyContract>, meter, heartbeats };
      if (subscriptions.length === 0) subscriptions.push(listenAsInstance());
      byContract.set(endpoint.subject, served);
      subscriptions.push(
        core.connection.subscribe(endpoint.subject, (message) => onMessage(served, message), core.service),
      );
    },
    endpoints,
    stop: async () => {
      await Promise.all(subscriptions.map((subscription) => subscription.drain()));
    },
    idle: async () => {
      while (running.size > 0) await Promise.all(running);
      heartbeats.close();
    },
  };
}

async function answer(core: Core, served: Served, message: Msg): Promise<void> {
  const { endpoint, meter } = served;
  const { contract, stats } = endpoint;
  stats.requests += 1;
  meter.started();
  if (endpoint.inFlight >= contract.maxInFlight) {
    refuse(core, { served, message }, new Fault("overloaded", { retryAfterSeconds: 1 }));
    return;
  }
  endpoint.inFlight += 1;
  const stopHeartbeats = message.headers?.has(header.heartbeat)
    ? served.heartbeats.start(message)
    : undefined;
  const startedAt = performance.now();
  let requestId = "";
  try {
    const envelope = decodeEnvelope(message.headers, contract.deadlineMs);
    requestId = envelope.requestId;
    if (isTooLate(message.headers, envelope)) throw new Fault("unavailable");
    const run = () =>
      handleTraced(core, served, { message, envelope }).catch((error: unknown): Answer => {
        const fault = knownFault(core, { contract, requestId, error });
        return { body: empty, headers: encodeFault(fault), fault };
      });
    const answer = await answerOnce(core, { contract, message, envelope }, run);
    reply(core, { served, message }, answer);
    if (answer.fault === undefined) meter.ended("ok");
    else countFault(core, served, answer.fault);
  } catch (error) {
    refuse(core, { served, message }, knownFault(core, { contract, requestId, error }));
  } finally {
    stopHeartbeats?.();
    endpoint.inFlight -= 1;
    stats.processingNs += Math.round((performance.now() - startedAt) * 1e6);
  }
}

type Arrival = { message: Msg; envelope: Envelope };

function handleTraced(core: Core, served: Served, { message, envelope }: Arrival): Promise<Answer> {
  if (!core.tracing.isOn) return handle(core, served, { message, envelope });
  const { subject } = served.endpoint.contract;
  const attributes = { "rpc.system": "nats", "rpc.method": subject, "svc.request_id": envelope.requestId };
  const about = { kind: "server", parent: envelope.traceparent, attributes } as const;
  return core.tracing.run(subject, about, (traceparent = envelope.traceparent) =>
    handle(core, served, { message, envelope: { ...envelope, traceparent } }),
  );
}

async function handle(core: Core, served: Served, arrival: Arrival): Promise<Answer> {
  const { contract } = served.endpoint;
  const input = decodeInput(contract, arrival.message.data);
  const { context, end } = createContext(core, contract, arrival.envelope);
  try {
    const result = await served.handler(context, input);
    // No result beside a byte transfer: the transferred bytes are the answer.
    if (context.reply.byteTransfer && (result ?? null) === null)
      return { body: nothing, headers: encodeReplyExtras(context.reply) };
    const bytes = bytesOf(result);
    const body = bytes && !core.checksEncoded ? bytes : encodeOutput(contract, bytes ?? result);
    return { body, headers: encodeReplyExtras(context.reply) };
  } finally {
    end();
  }
}

function encodeOutput(contract: AnyContract, result: unknown): Uint8Array {
  const bytes = result instanceof Uint8Array ? result : undefined;
  const output = contract.output.safeParse(bytes ? JSON.parse(textOf(bytes)) : result);
  if (!output.success)
    throw new Error(`the answer does not match the contract: ${explainIssues(output.error)}`);
  return bytes ?? encodeJson(output.data);
}

function decodeInput(contract: AnyContract, body: Uint8Array): unknown {
  let value: unknown;
  try {
    value = body.length === 0 ? {} : JSON.parse(textOf(body));
  } catch {
    throw new Fault("bad_request", { message: "The body is not valid JSON." });
  }
  const input = contract.input.safeParse(value);
  if (!input.success) throw new Fault("bad_request", { message: explainIssues(input.error) });
  return input.data;
}

type Failure = { contract: AnyContract; requestId: string; error: unknown };

function knownFault(core: Core, failure: Failure): Fault {
  const { contract, requestId, error } = failure;
  const about = { request_id: requestId, subject: contract.subject };
  if (error instanceof ConnectionError && error.kind === "too-large") {
    core.log.error(
      about,
      "the answer exceeds the payload limit of NATS; page it, or use a view or a byte transfer",
    );
    return new Fault("internal");
  }
  if (isFault(error)) return error;
  // The connection to NATS was lost while the handler used it.
  if (error instanceof ConnectionError) return new Fault("unavailable", { cause: error });
  core.log.error({ ...about, err: error }, "request failed unexpectedly");
  return new Fault("internal");
}

/**
 * NATS delivers its answers, and what a consumer reads, to any subject that the requester names: only the inbox of a
 * caller shows that the caller sent the request.
 */
function isFromCaller({ inboxes }: Endpoint, reply: string | undefined): boolean {
  return reply !== undefined && inboxes.some((inbox) => reply.startsWith(inbox));
}

type Arrived = { served: Served; message: Msg };

function refuse(core: Core, arrived: Arrived, fault: Fault): void {
  countFault(core, arrived.served, fault);
  reply(core, arrived, { body: empty, headers: encodeFault(fault) });
}

function countFault(
  core: Core,
  { endpoint, meter }: Served,
  { fault, message }: Pick<Fault, "fault" | "message">,
): void {
  noteUndeclaredFault(core, endpoint, fault);
  endpoint.stats.errors += 1;
  endpoint.stats.lastError = `${fault}: ${message}`;
  meter.ended(fault);
}

function reply(core: Core, arrived: Arrived, { body, headers }: Omit<Answer, "fault">): void {
  const to = arrived.message.reply;
  if (!to) return;
  try {
    core.connection.publish(to, body, headers ? { headers } : {});
  } catch (error) {
    // After a lost connection the caller already has `unavailable`.
    if (error instanceof ConnectionError && error.kind === "too-large") throw error;
  }
}
