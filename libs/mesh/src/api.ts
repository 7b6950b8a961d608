// The interface of the mesh for services (docs/reference/mesh.md#subjects). The rest of this library implements it.

import type {
  AnyContract,
  Bucket,
  ByteTransferTicket,
  Client,
  Fault,
  FaultOf,
  FaultOptions,
  InputOf,
  OutputOf,
  Owner,
  Principal,
  ServiceName,
  SessionGrant,
  StreamTicket,
  View,
} from "@svc/proto";
import type { Logger, Registry, Tracing } from "@svc/telemetry";
import type { Encoded } from "./encoded.ts";

/** Everything a handler may know about a request in addition to its input. */
export type Context<C extends AnyContract> = {
  requestId: string;
  principal: Principal;
  client: Client;
  /** Unix milliseconds after which nobody waits any more. */
  deadlineAt: number;
  /** Aborts at the deadline and at the end of a drain. */
  signal: AbortSignal;
  traceparent: string;
  log: Logger;
  /** Makes a fault that this contract declares: `throw context.fault("cooldown", { retryAfterSeconds: 12 })`. */
  fault: (name: FaultOf<C>, options?: FaultOptions) => Fault;
  /**
   * What a gateway does in addition to sending the body; only contracts that say so may set it. A handler that sets
   * `byteTransfer` and returns nothing answers with the transferred bytes. An event stream has a `stream` while its source
   * lives, a `byteTransfer` of its frames (`eventFrame`) once it has ended, and neither for a viewer that has seen the end.
   */
  reply: { session?: SessionGrant; byteTransfer?: ByteTransferTicket; stream?: StreamTicket };
};

export type Handler<C extends AnyContract> = (
  context: Context<C>,
  input: InputOf<C>,
) => Promise<OutputOf<C>> | OutputOf<C>;

/** A handler whose answers are bytes that it keeps (`encodedPage`). */
export type EncodingHandler<C extends AnyContract> = (
  context: Context<C>,
  input: InputOf<C>,
) => Promise<Encoded> | Encoded;

/** On whose behalf a call is made: pass the context of the request being served, or name the principal. */
export type CallOptions = {
  requestId?: string;
  principal?: Principal;
  client?: Client;
  traceparent?: string;
  /** An earlier deadline than the contract's own; unix milliseconds. */
  deadlineAt?: number;
  signal?: AbortSignal;
};

/** A reply as it came from the wire, for gateways: the body is valid JSON bytes of the contract's output. */
export type RawReply = {
  body: Uint8Array;
  session?: SessionGrant;
  byteTransfer?: ByteTransferTicket;
  stream?: StreamTicket;
};

/** One delivered event. Return: done; a fault with retry `later`: redelivered after a delay; any other: dead letter. */
export type Delivery<D = unknown> = {
  data: D;
  subject: string;
  id: string;
  at: Date;
  attempt: number;
  signal: AbortSignal;
};

export type ConsumeOptions<D> = {
  durable: string;
  stream: string;
  subjects: readonly string[];
  /** Decodes and checks one message; a throw sends it to the dead letters. */
  parse: (body: unknown) => D;
  handle: (delivery: Delivery<D>) => Promise<void>;
  maxInFlight?: number;
  /** Deliveries before a message becomes a dead letter; default 20. */
  maxAttempts?: number;
};

/**
 * A writer of a view. The owner first calls `replace` with the whole projection: from then on the view is marked as
 * current every `markEveryMs` (every 30 s while nobody asks for its age), and mirrors become ready; `put` and `remove` keep it current.
 */
export type ViewWriter<V> = {
  /** Stores one value; writes nothing when the stored bytes are the same. */
  put: (key: string, value: V) => Promise<void>;
  remove: (key: string) => Promise<void>;
  /** Makes the bucket equal to `entries`: rewrites what differs, removes what is gone. */
  replace: (entries: ReadonlyMap<string, V>) => Promise<{ written: number; removed: number }>;
  /** Stops marking the view as current; called by a replica that is no longer the leader. */
  close: () => Promise<void>;
};

export type ViewWriterOptions = {
  /** Asked before each mark, when everything known so far must have been written; no mark is made while it is false. */
  isCurrent?: () => boolean | Promise<boolean>;
  /**
   * Asked before a mark that answers a reader's request: whether everything known by the time of the call has been written
   * since, where `isCurrent` does not say so. While it is false the mark says that nobody is answered.
   */
  isWritten?: () => Promise<boolean>;
  /** Another writer has stored this key: a replica that is no longer the leader, or its successor. */
  onForeignChange?: (key: string) => void;
};

/** A mirror of a view in this process's memory. */
export type ViewMirror = {
  /** False until the first full copy has arrived; until then readers ask the owner. */
  readonly ready: boolean;
  /** Changes with every change of the copy. */
  readonly version: number;
  readonly size: number;
  /** Stored JSON bytes of one value. */
  get: (key: string) => Uint8Array | undefined;
  /** All keys in order. */
  keys: () => readonly string[];
  /** Milliseconds since the owner last marked the view as current. */
  ageMs: () => number;
  /**
   * Whether the owner has vouched for this copy within the view's `staleAfterMs`, as it happened. Asking tells the owner
   * that the view is in use: after a minute without a question the next one finds it too old.
   */
  isFresh: () => boolean;
  /**
   * Waits until this copy has everything that the owner knew at the time of the call, usually some milliseconds: true. False
   * after `withinMs`, and at once while the owner answers no such requests (docs/reference/mesh.md#catch-up).
   */
  catchUp: (withinMs: number) => Promise<boolean>;
  /**
   * Calls back with the key of every entry that has changed or is gone; after a gap, with those that differ from the copy
   * before it. Listeners are not called for the first copy.
   */
  onChange: (listener: (key: string) => void) => void;
  close: () => Promise<void>;
};

/** One entry of a bucket; `revision` grows with every write of the bucket. */
export type BucketEntry<V> = { key: string; value: V; revision: number };
export type BucketWriteOptions = {
  /** In place of the bucket's own `ttlMs`; at least 1000. */ ttlMs?: number;
};

/**
 * A private key-value store of an owner, shared by all its replicas. Every write renews the entry's lifetime. All
 * methods throw the fault `unavailable` while NATS cannot be reached; a write that threw may still have been stored, so
 * read before writing again. A key consists of letters, digits, `-`, `_`, `=` and `/`.
 */
export type BucketStore<V> = {
  get: (key: string) => Promise<BucketEntry<V> | undefined>;
  /** The new revision; undefined when the key exists. */
  create: (key: string, value: V, options?: BucketWriteOptions) => Promise<number | undefined>;
  /** The new revision; undefined when the entry is no longer at `revision`: it was changed or is gone. */
  update: (
    key: string,
    value: V,
    revision: number,
    options?: BucketWriteOptions,
  ) => Promise<number | undefined>;
  /** False when the entry is no longer at `revision`; without a revision it is deleted unconditionally. */
  delete: (key: string, revision?: number) => Promise<boolean>;
  /** Keys of all entries, in order. */
  keys: () => Promise<string[]>;
  /** Reports every entry, then every change; after a gap, what changed meanwhile. An entry may be reported twice. */
  watch: (options: BucketWatchOptions<V>) => { close: () => Promise<void> };
};
export type BucketWatchOptions<V> = {
  onEntry: (entry: BucketEntry<V>) => void;
  /** An entry was deleted or has expired. */
  onGone: (key: string) => void;
  /** Everything stored has been reported; called again after every gap. */
  onCaughtUp?: () => void;
};

/** Transfers bytes over a private HTTP port of the owner with a single-use token (docs/reference/byte-transfers.md#ticket). */
export type ByteTransfers = {
  /** Lets a gateway fetch bytes once; `source` is called when it does. */
  download: (download: ByteDownload) => ByteTransferTicket;
  /** Lets a gateway send bytes once; `receive` returns the operation's JSON body. */
  upload: (upload: ByteUpload) => ByteTransferTicket;
};
export type ByteDownload = {
  /** With a Content-Length, where it is known, a byte costs half as much. */
  headers: Record<string, string>;
  /** A chunk has been sent once the next one is asked for; its memory may be used again then. */
  source: (signal: AbortSignal) => AsyncIterable<Uint8Array>;
  ttlMs?: number;
};
export type ByteUpload = {
  receive: (body: AsyncIterable<Uint8Array>, about: UploadHead, signal: AbortSignal) => Promise<unknown>;
  ttlMs?: number;
  /** Milliseconds without a byte after which the transfer fails; default 120000. */
  stallMs?: number;
};
export type UploadHead = {
  contentLength: number | undefined;
  contentDigest: string | undefined;
  /** Content-Digest of the trailers, which a body without a declared length may have; call it when the body has ended. */
  trailerDigest: () => string | undefined;
};

/** The subject of the lines of one source: `svc.live.<owner>.<noun>.<key>`. */
export type LiveLogSource = { owner: Owner; noun: string; key: string };

/** One line without line breaks, and where it is in its source; positions of lines differ. */
export type LiveLogLine = {
  line: Uint8Array;
  position: string;
  /** Name of the event that viewers get in place of a plain line. */
  event?: string;
};

export type LiveLogWriter = {
  /** The position stored with the newest line, whoever wrote it; undefined when there is no line. */
  position: () => string | undefined;
  /**
   * Stores lines with their positions in the source. False when another writer has written since: then this one has
   * ended. Throws the fault `unavailable`; the same lines may then be written again and are stored once.
   */
  write: (lines: readonly LiveLogLine[]) => Promise<boolean>;
};

/** Messages that a consumer gave up on: how many are stored, and the newest. `at` is RFC 3339. */
export type DeadLetters = {
  durable: string;
  count: number;
  newest: { at: string; subject: string; error: string };
};

export type Outgoing = { id: string; subject: string; body: Uint8Array; headers?: Record<string, string> };

/** One process on the mesh, with its counters summed over its endpoints. */
export type FoundService = {
  name: string;
  id: string;
  version: string;
  started: string;
  endpoints: number;
  requests: number;
  errors: number;
};

/** A stream with its consumers, as JetStream counts them. */
export type StreamState = {
  name: string;
  messages: number;
  bytes: number;
  first_seq: number;
  last_seq: number;
  consumers: {
    name: string;
    /** Not delivered yet. */
    pending: number;
    /** Delivered and not acknowledged. */
    ack_pending: number;
    redelivered: number;
    delivered_seq: number;
  }[];
};

export type FollowedEvent = { subject: string; sequence: number; at: string; data: unknown };
export type FollowOptions = {
  stream: string;
  /** Subject filter within the stream. */
  subject: string;
  /** Starts with what was stored since then; only new events when absent. */
  since?: Date;
  onEvent: (event: FollowedEvent) => void;
  /** Everything that was stored at the start has been reported. */
  onCaughtUp?: () => void;
};

export type MeshStatus = { connected: boolean; server: string; reconnects: number };

/** Runs a request that may be repeated; the owner's database records its outcome (ADR 0014). */
export type Repeats = {
  /** Returns what `run` returns, or what it returned for the same id before. */
  once: (
    request: { id: string; isRepeat: boolean; deadlineAt: number },
    run: () => Promise<Uint8Array>,
  ) => Promise<Uint8Array>;
};

export type Mesh = {
  readonly service: ServiceName | "operator";
  /** Lets this owner answer repeated requests of contracts with `onceById`; call it before `announce`. */
  answerRepeats: (repeats: Repeats) => void;
  /** Answers a contract in the queue group of this service. */
  serve: <C extends AnyContract>(contract: C, handler: Handler<C> | EncodingHandler<C>) => void;
  /** Announces that this process answers: call it after every `serve`. */
  announce: () => Promise<void>;
  /** Calls the owner. Throws a `Fault`; no responder, timeout and a lost connection are `unavailable`. */
  call: <C extends AnyContract>(
    contract: C,
    input: InputOf<C>,
    options?: CallOptions,
  ) => Promise<OutputOf<C>>;
  /** As `call`, but the reply's body stays bytes (the owner has checked it). */
  forward: <C extends AnyContract>(
    contract: C,
    input: InputOf<C>,
    options?: CallOptions,
  ) => Promise<RawReply>;
  /** Publishes to JetStream with a dedup id and resolves when it is stored; used by the outbox relay. */
  publish: (messages: readonly Outgoing[]) => Promise<void>;
  /** Publishes an audit entry, best effort: a failure is logged and counted, never thrown. */
  audit: (entry: Record<string, unknown> & { action: string }) => void;
  /** Starts a durable consumer; it runs until `drain`, also over restarts and before the stream exists. */
  consume: <D>(options: ConsumeOptions<D>) => Promise<void>;
  /** Dead letters of the consumers of an owner, by durable; for `svc doctor`. */
  deadLetters: (owner: Owner) => Promise<DeadLetters[]>;
  /** Every stream with its consumers; for `svc support-bundle`, as `operator`. */
  streams: () => Promise<StreamState[]>;
  /** Every process that answers the services protocol within `waitMs`; for `svc status`. */
  discover: (waitMs: number) => Promise<FoundService[]>;
  /** Follows one stream's events; for `svc events`. */
  follow: (options: FollowOptions) => { close: () => Promise<void> };
  /** Core subscription, for messages that only matter now (a revoked session). Returns a function that ends it. */
  listen: (subject: string, onMessage: (subject: string, body: Uint8Array) => void) => () => void;
  writeView: <V>(view: View<V>, options?: ViewWriterOptions) => Promise<ViewWriter<V>>;
  mirrorView: <V>(view: View<V>) => ViewMirror;
  /** Opens a bucket of this owner. */
  bucket: <V>(bucket: Bucket<V>) => BucketStore<V>;
  byteTransfers: ByteTransfers;
  /** Publishes one line of a live log (console, build log); kept for an hour for `Last-Event-ID`. */
  publishLiveLine: (place: LiveLogSource, line: Uint8Array) => Promise<void>;
  /** Takes over as the only writer of a source's live log; reads the position of the previous writer. */
  openLiveLog: (place: LiveLogSource) => Promise<LiveLogWriter>;
  /** Publishes the last line of a source that has ended; live readers end after it. */
  endLiveLog: (place: LiveLogSource, line: Uint8Array, event?: string) => Promise<void>;
  /** Reads a live log from a ticket's position; a line with `isLast` is the end of its source. */
  readLiveLog: (
    ticket: StreamTicket,
    signal: AbortSignal,
  ) => AsyncIterable<{ atSeconds: number; line: Uint8Array; event?: string; isLast?: true }>;
  status: () => MeshStatus;
  /** Stops accepting work, lets work in flight finish, then closes; at most `timeoutMs` (default 20000). */
  drain: (timeoutMs?: number) => Promise<void>;
};

/** Settings of a connection. */
export type MeshOptions = {
  service: ServiceName | "operator";
  url: string;
  user: string;
  password: string;
  log: Logger;
  /** Version of this build, shown in the services protocol. */
  version: string;
  /** Where gateways reach this process's byte transfer port; default 127.0.0.1 on a free port. */
  byteTransferHost?: string;
  /** Registry of the metrics; none are kept when absent. */
  registry?: Registry;
  /** Records spans of requests; none when absent. */
  tracing?: Tracing;
  /** Checks answers that their owner has encoded by itself, too; tests do. */
  checksEncoded?: boolean;
  /** Aborts a connect that never succeeds. */
  signal?: AbortSignal;
};
