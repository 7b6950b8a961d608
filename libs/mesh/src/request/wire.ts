// Encodes requests and replies as NATS messages (docs/reference/mesh.md#envelope).

import { randomUUID } from "node:crypto";
import type { Msg, MsgHdrs } from "@nats-io/transport-node";
import {
  ByteTransferTicket,
  type Client,
  Fault,
  faceHosts,
  faults,
  header,
  isFaultName,
  languages,
  Principal,
  type ServiceName,
  SessionGrant,
  StreamTicket,
} from "@svc/proto";
import type { CallOptions, RawReply } from "../api.ts";
import { encodeHeaders, headerSafe } from "../connection/headers.ts";

const encoder = new TextEncoder();
const traceparentShape = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;
const longestMessage = 2_000;

export type Envelope = {
  requestId: string;
  principal: Principal;
  client: Client;
  deadlineAt: number;
  traceparent: string;
};

/** A new W3C traceparent, sampled. */
function newTraceparent(): string {
  const hex = (randomUUID() + randomUUID()).replaceAll("-", "");
  return `00-${hex.slice(0, 32)}-${hex.slice(32, 48)}-01`;
}

/** Fills in what the caller omitted; a call without a principal is the service's own work. */
export function envelopeOf(
  options: CallOptions,
  service: ServiceName | "operator",
  deadlineMs: number,
): Envelope {
  const ownEnd = Date.now() + deadlineMs;
  return {
    requestId: options.requestId ?? randomUUID(),
    principal: options.principal ?? { kind: "service", service },
    client: options.client ?? { address: "", userAgent: "" },
    deadlineAt: options.deadlineAt === undefined ? ownEnd : Math.min(ownEnd, options.deadlineAt),
    traceparent:
      options.traceparent && traceparentShape.test(options.traceparent)
        ? options.traceparent
        : newTraceparent(),
  };
}

/** One attempt of a request; `beginBy` is set when its caller gives up before the deadline. */
type Sending = { beginBy?: number; onceId?: string; isRepeat?: boolean };

/** The header block of a request. */
export function encodeEnvelope(envelope: Envelope, sending: Sending = {}): Uint8Array {
  const { beginBy, onceId, isRepeat } = sending;
  const { address, userAgent, language, host } = envelope.client;
  return encodeHeaders({
    [header.requestId]: envelope.requestId,
    [header.principal]: JSON.stringify(envelope.principal),
    [header.clientAddress]: address === "" ? undefined : address,
    [header.userAgent]: userAgent === "" ? undefined : userAgent,
    [header.language]: language,
    [header.clientHost]: host,
    [header.deadline]: String(envelope.deadlineAt),
    [header.beginBy]: beginBy === undefined ? undefined : String(beginBy),
    [header.heartbeat]: "1",
    [header.onceId]: onceId,
    [header.repeat]: isRepeat ? "1" : undefined,
    [header.traceparent]: envelope.traceparent,
  });
}

/** True when nobody waits for the request any more: working on it would only delay others. */
export function isTooLate(headers: MsgHdrs | undefined, { deadlineAt }: Envelope): boolean {
  const beginBy = Number(headers?.get(header.beginBy));
  return Date.now() >= (beginBy > 0 ? Math.min(beginBy, deadlineAt) : deadlineAt);
}

/** The header block of a heartbeat: the request is being worked on. */
export const heartbeatHeaders = encodeHeaders({ [header.heartbeat]: "1" });

/** What NATS answers when there is no responder. */
export const noResponderHeaders = encoder.encode("NATS/1.0 503\r\n\r\n");

/** Reads a request's headers; throws the fault `bad_request` when they do not name the principal. */
export function decodeEnvelope(headers: MsgHdrs | undefined, deadlineMs: number): Envelope {
  const principalText = headers?.get(header.principal);
  if (!headers || !principalText)
    throw new Fault("bad_request", { message: `The request lacks the header ${header.principal}.` });
  const deadlineAt = Number(headers.get(header.deadline));
  const traceparent = headers.get(header.traceparent);
  return {
    requestId: headers.get(header.requestId) || randomUUID(),
    principal: decodePrincipal(principalText),
    client: decodeClient(headers),
    deadlineAt: deadlineAt > 0 ? deadlineAt : Date.now() + deadlineMs,
    traceparent: traceparentShape.test(traceparent) ? traceparent : newTraceparent(),
  };
}

function decodeClient(headers: MsgHdrs): Client {
  const given = headers.get(header.language);
  const language = languages.find((one) => one === given);
  const asked = headers.get(header.clientHost);
  const host = faceHosts.find((one) => one === asked);
  return {
    address: headers.get(header.clientAddress),
    userAgent: headers.get(header.userAgent),
    ...(language && { language }),
    ...(host && { host }),
  };
}

function decodePrincipal(text: string): Principal {
  const refuse = () => new Fault("bad_request", { message: `The header ${header.principal} is not valid.` });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw refuse();
  }
  const parsed = Principal.safeParse(value);
  if (!parsed.success) throw refuse();
  return parsed.data;
}

/** The header block of a fault. */
export function encodeFault(fault: Fault): Uint8Array {
  return encodeHeaders({
    [header.error]: fault.message.slice(0, longestMessage),
    [header.errorCode]: String(faults[fault.fault].status),
    [header.fault]: fault.fault,
    [header.retryAfter]: fault.retryAfterSeconds === undefined ? undefined : String(fault.retryAfterSeconds),
  });
}

type ReplyExtras = Pick<RawReply, "session" | "byteTransfer" | "stream">;

/** The header block of a reply with work for the gateway; undefined when there is none. */
export function encodeReplyExtras(extras: ReplyExtras): Uint8Array | undefined {
  const { session, byteTransfer, stream } = extras;
  if (session === undefined && byteTransfer === undefined && stream === undefined) return undefined;
  return encodeHeaders({
    [header.session]: session === undefined ? undefined : asciiJson(session),
    [header.byteTransfer]: byteTransfer === undefined ? undefined : asciiJson(byteTransfer),
    [header.stream]: stream === undefined ? undefined : asciiJson(stream),
  });
}

function asciiJson(value: unknown): string {
  return headerSafe(JSON.stringify(value));
}

/** The body of a reply and what the gateway has to do with it. Throws the fault that the reply carries. */
export function decodeReply(message: Msg): RawReply {
  const { headers } = message;
  if (!headers) return { body: message.data };
  if (headers.has(header.errorCode) || headers.has(header.fault)) throw decodeFault(headers);
  const session = headers.get(header.session);
  const byteTransfer = headers.get(header.byteTransfer);
  const stream = headers.get(header.stream);
  return {
    body: message.data,
    ...(session ? { session: SessionGrant.parse(JSON.parse(session)) } : {}),
    ...(byteTransfer ? { byteTransfer: ByteTransferTicket.parse(JSON.parse(byteTransfer)) } : {}),
    ...(stream ? { stream: StreamTicket.parse(JSON.parse(stream)) } : {}),
  };
}

function decodeFault(headers: MsgHdrs): Fault {
  const name = headers.get(header.fault);
  const message = headers.get(header.error);
  const retryAfter = headers.get(header.retryAfter);
  return new Fault(isFaultName(name) ? name : "internal", {
    ...(message && isFaultName(name) ? { message } : {}),
    ...(retryAfter ? { retryAfterSeconds: Number(retryAfter) } : {}),
  });
}
