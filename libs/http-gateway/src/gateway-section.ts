// Section [gateway] of the configuration: every limit of a face by name (docs/reference/settings.md).

import { duration, section, size } from "@svc/config";
import { z } from "zod";
import type { FaceSettings } from "./settings.ts";

/** Schema of [gateway], which both gateways read. */
export const gatewaySection = section({
  /** Address of the internal face, host:port; the external one is [server] listen. */
  internal_listen: z.string().default("0.0.0.0:8081"),
  json_body: size("1Mi"),
  upload_limit: size("4Gi"),
  body_grace: duration("30s"),
  /** Bytes a second. */
  body_rate: size("16Ki"),
  headers_timeout: duration("10s"),
  idle_timeout: duration("120s"),
  drain: duration("20s"),
  session_cache: duration("5s"),
  session_cache_size: z.int().min(1).default(20_000),
  view_rebuild: duration("1s"),
  collected_pages: z.int().min(1).default(1_000),
  stream_keep_alive: duration("15s"),
  stream_recheck: duration("60s"),
  stream_lifetime: duration("30m"),
  stream_resume: duration("1h"),
  streams_per_account: z.int().min(1).default(16),
  stream_buffer: size("256Ki"),
  stream_stuck: duration("30s"),
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
    sessionCacheMs: gateway.session_cache,
    sessionCacheSize: gateway.session_cache_size,
    viewRebuildMs: gateway.view_rebuild,
    collectedPages: gateway.collected_pages,
    streamKeepAliveMs: gateway.stream_keep_alive,
    streamRecheckMs: gateway.stream_recheck,
    streamLifetimeMs: gateway.stream_lifetime,
    streamResumeSeconds: gateway.stream_resume / 1_000,
    streamsPerAccount: gateway.streams_per_account,
    streamBufferBytes: gateway.stream_buffer,
    streamStuckMs: gateway.stream_stuck,
    transferStallMs: gateway.transfer_stall,
  };
}
