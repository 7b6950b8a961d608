// Every limit and timeout of a face, with the defaults of the specification (docs/reference/http.md#shared, docs/reference/settings.md).

export type FaceSettings = {
  /** Host of the operator console, without a port (docs/reference/http.md#tiers). */
  adminHostname: string;
  /** Header with the client address; empty = the TCP peer. */
  clientIpHeader: string;
  /** Paths whose successful requests are not logged: probes and scrapes (docs/reference/http.md#request-log). */
  quietPaths: readonly string[];
  /** How often polls that were answered 304 are logged, as counts. */
  unchangedLogMs: number;
  jsonBodyBytes: number;
  /** Ceiling of one uploaded body; the owner of an upload sets the real limit. */
  uploadBytes: number;
  /** A body still arriving after this span must average `bodyBytesPerSecond`. */
  bodyGraceMs: number;
  bodyBytesPerSecond: number;
  headersTimeoutMs: number;
  idleTimeoutMs: number;
  drainMs: number;
  /** Malformed requests to sign-in endpoints from one address, at once and in each minute. */
  malformedSignIns: number;
  /** Requests with one API token, at once and in each minute. */
  tokenRequestsPerMinute: number;
  /** Requests of one address to what everybody may read, at once and in each minute. */
  publicReadsPerMinute: number;
  sessionCacheMs: number;
  sessionCacheSize: number;
  viewRebuildMs: number;
  /** Maximum pages of one paged list; more is a bug of its owner. */
  collectedPages: number;
  streamKeepAliveMs: number;
  streamRecheckMs: number;
  streamLifetimeMs: number;
  streamResumeSeconds: number;
  streamsPerAccount: number;
  /** Changes of this long are sent together, those of one entry as one. */
  changeFlushMs: number;
  /** How far replicas may differ in when they hear of a change; a resumed stream repeats that much. */
  changeOverlapMs: number;
  /** Bytes buffered for one slow viewer before lines are dropped for it. */
  streamBufferBytes: number;
  /** A viewer that reads nothing for this long is disconnected. */
  streamStuckMs: number;
  /** A transfer without a byte for this long is ended. */
  transferStallMs: number;
};

export const defaultFaceSettings: FaceSettings = {
  adminHostname: "",
  clientIpHeader: "",
  quietPaths: ["/healthz", "/readyz", "/metrics"],
  unchangedLogMs: 60_000,
  jsonBodyBytes: 1024 * 1024,
  uploadBytes: 4 * 1024 ** 3,
  bodyGraceMs: 30_000,
  bodyBytesPerSecond: 16 * 1024,
  headersTimeoutMs: 10_000,
  idleTimeoutMs: 120_000,
  drainMs: 20_000,
  malformedSignIns: 60,
  tokenRequestsPerMinute: 600,
  publicReadsPerMinute: 600,
  sessionCacheMs: 5_000,
  sessionCacheSize: 20_000,
  viewRebuildMs: 1_000,
  collectedPages: 1_000,
  streamKeepAliveMs: 15_000,
  streamRecheckMs: 60_000,
  streamLifetimeMs: 30 * 60_000,
  streamResumeSeconds: 3_600,
  streamsPerAccount: 16,
  changeFlushMs: 250,
  changeOverlapMs: 5_000,
  streamBufferBytes: 256 * 1024,
  streamStuckMs: 30_000,
  transferStallMs: 120_000,
};
