// What accompanies a body on the mesh (docs/reference/mesh.md#envelope).

import { z } from "zod";
import { callerTokens, type FaceHost } from "./caller.ts";
import type { Language } from "./language.ts";
import { TokenGrant } from "./right.ts";
import { Role } from "./role.ts";

/** Who a request acts for. Set by a gateway or by a service for its own work, never by an outside caller. */
export const Principal = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("anonymous"),
    /** Only at an operation that ends sessions: sha-256 (hex) of a cookie that does not count (any more). */
    session: z.string().optional(),
  }),
  z.strictObject({ kind: z.literal("caller"), caller: z.enum(callerTokens) }),
  z.strictObject({
    kind: z.literal("account"),
    user_id: z.string(),
    username: z.string(),
    role: Role,
    /** Role admin or owner, on the operator console host (docs/reference/http.md#tiers). */
    staff: z.boolean(),
    /** In first-run setup. */
    setup: z.boolean(),
    /** sha-256 (hex) of the session cookie or of the API token. */
    session: z.string(),
    /** Present when the credential is an API token; then `staff` is false (docs/reference/api-tokens.md#reach). */
    token: TokenGrant.optional(),
  }),
  z.strictObject({ kind: z.literal("service"), service: z.string() }),
]);
export type Principal = z.output<typeof Principal>;
export type AccountPrincipal = Extract<Principal, { kind: "account" }>;

/**
 * Where a request came from; empty strings when unknown, no language when it asks for none of ours. `host`: which one it
 * was sent to; the players' when absent.
 */
export type Client = { address: string; userAgent: string; language?: Language; host?: FaceHost };

/** Names of the NATS headers of a request and its reply. */
export const header = {
  requestId: "Svc-Request-Id",
  principal: "Svc-Principal",
  clientAddress: "Svc-Client-Address",
  userAgent: "Svc-User-Agent",
  /** The one of `faceHosts` that the client asked. */
  clientHost: "Svc-Client-Host",
  /** The one of `languages` that the client prefers. */
  language: "Svc-Language",
  /** Unix milliseconds after which the caller no longer waits for the reply. */
  deadline: "Svc-Deadline",
  /** Unix milliseconds after which the request must not be started: the caller has given up by then. */
  beginBy: "Svc-Begin-By",
  /** Names a request that may be repeated; known to its caller and its owner alone. */
  onceId: "Svc-Once-Id",
  /** The request was sent before, to another replica. */
  repeat: "Svc-Repeat",
  /** Request: the caller wants heartbeats. Reply: the request is being worked on; the answer comes later. */
  heartbeat: "Svc-Heartbeat",
  traceparent: "traceparent",
  fault: "Svc-Fault",
  retryAfter: "Svc-Retry-After",
  error: "Nats-Service-Error",
  errorCode: "Nats-Service-Error-Code",
  /** Reply: the session that the gateway turns into a cookie, as `SessionGrant` JSON. */
  session: "Svc-Session",
  /** Reply: where the gateway fetches or sends the bytes, as `ByteTransferTicket` JSON. */
  byteTransfer: "Svc-Lane",
  /** Reply: the subject and position of an event stream, as `StreamTicket` JSON. */
  stream: "Svc-Stream",
} as const;

/** `{value, expires_at}` mints a cookie; `null` clears it. */
export const SessionGrant = z.strictObject({ value: z.string(), expires_at: z.iso.datetime() }).nullable();
export type SessionGrant = z.output<typeof SessionGrant>;

/** A one-time place on the owner's data port where a body is sent or fetched (docs/reference/byte-transfers.md#ticket). */
export const ByteTransferTicket = z.strictObject({
  url: z.url(),
  token: z.string(),
  /** Response headers the gateway copies onto its own answer of a download (type, disposition, digest, length). */
  headers: z.record(z.string(), z.string()).default({}),
});
export type ByteTransferTicket = z.output<typeof ByteTransferTicket>;

/** A NATS subject that carries the lines of one event stream, kept in a JetStream stream for resuming. */
export const StreamTicket = z.strictObject({
  stream: z.string(),
  subject: z.string(),
  /** Unix seconds from which lines are replayed; absent means the last `tail` lines. */
  since: z.number().int().optional(),
  tail: z.number().int().min(0).max(1000).default(100),
});
export type StreamTicket = z.output<typeof StreamTicket>;
