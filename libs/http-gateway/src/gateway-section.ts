// Section [gateway] of the configuration: every limit of a face by name (docs/reference/settings.md).

import { duration, section, size } from "@svc/config";
import { z } from "zod";
import type { FaceSettings } from "./settings.ts";

/** Schema of [gateway], which both gateways read. */
export const gatewaySection = section({
  /** Address of the internal face, host:port; the external one is [server] listen. */
  internal_listen: z.string().default("0.0.0.0:8081"),
  /** Largest JSON body of a request. */
  json_body: size("1Mi"),
  /** Largest uploaded body; the owner of an upload sets the real limit. */
  upload_limit: size("4Gi"),
  /** A body that still arrives after this must average `body_rate`. */
  body_grace: duration("30s"),
  /** Bytes a second that a slow body must average. */
  body_rate: size("16Ki"),
  /** Time within which a request's headers must arrive. */
  headers_timeout: duration("10s"),
  /** A connection without a request is closed after this. */
  idle_timeout: duration("120s"),
  /** Time that requests in progress get when the process stops. */
  drain: duration("20s"),
  /** Malformed requests that sign-in endpoints answer to one address, at once and in each minute. */
  malformed_sign_ins: z.int().min(1).default(60),
  /** Requests that one API token may make at a gateway, at once and in each minute. */
  token_requests: z.int().min(1).default(600),
  /** Requests of one address to status pages and badges that a gateway answers, at once and in each minute. */
  public_reads: z.int().min(1).default(600),
  /** How long a resolved session or API token is cached; a revoked one is forgotten at once. */
  session_cache: duration("5s"),
  /** Sessions in that cache, at most, and as many tokens. */
  session_cache_size: z.int().min(1).default(20_000),
  /** A cached list that has changed is built again at most this often. */
  view_rebuild: duration("1s"),
  /** Pages of one paged list that are read, at most; more is a bug of its owner. */
  collected_pages: z.int().min(1).default(1_000),
  /** An event stream without an event is sent a comment this often. */
  stream_keep_alive: duration("15s"),
  /** How often the rights of a stream's viewer and of running transfers are rechecked. */
  stream_recheck: duration("60s"),
  /** An event stream is ended after this; its viewer opens another. */
  stream_lifetime: duration("30m"),
  /** How far back `Last-Event-ID` resumes a stream. */
  stream_resume: duration("1h"),
  /** Event streams that one account may have open at a gateway. */
  streams_per_account: z.int().min(1).default(16),
  /** Changes within this span are sent together; a burst at one server is one message of each type. */
  change_flush: duration("250ms"),
  /** A resumed stream of changes repeats this much: replicas hear of a change at different times. */
  change_overlap: duration("5s"),
  /** Bytes buffered for one slow viewer before lines are dropped for it. */
  stream_buffer: size("256Ki"),
  /** A viewer that reads nothing for this long is disconnected. */
  stream_stuck: duration("30s"),
  /** A byte transfer without a byte for this long is ended. */
  transfer_stall: duration("2m"),
});

/** The limits of [gateway] as settings of a face. */
export function limitsOf(
  gateway: z.output<typeof gatewaySection>,
): Omit<FaceSettings, "adminHostname" | "clientIpHeader" | "quietPaths" | "unchangedLogMs"> {
  return {
    jsonBodyBytes: gateway.json_body,
    uploadBytes: gateway.upload_limit,
    bodyGraceMs: gateway.body_grace,
    bodyBytesPerSecond: gateway.body_rate,
    headersTimeoutMs: gateway.headers_timeout,
    idleTimeoutMs: gateway.idle_timeout,
    drainMs: gateway.drain,
    malformedSignIns: gateway.malformed_sign_ins,
    tokenRequestsPerMinute: gateway.token_requests,
    publicReadsPerMinute: gateway.public_reads,
    sessionCacheMs: gateway.session_cache,
    sessionCacheSize: gateway.session_cache_size,
    viewRebuildMs: gateway.view_rebuild,
    collectedPages: gateway.collected_pages,
    streamKeepAliveMs: gateway.stream_keep_alive,
    streamRecheckMs: gateway.stream_recheck,
    streamLifetimeMs: gateway.stream_lifetime,
    streamResumeSeconds: gateway.stream_resume / 1_000,
    streamsPerAccount: gateway.streams_per_account,
    changeFlushMs: gateway.change_flush,
    changeOverlapMs: gateway.change_overlap,
    streamBufferBytes: gateway.stream_buffer,
    streamStuckMs: gateway.stream_stuck,
    transferStallMs: gateway.transfer_stall,
  };
}
