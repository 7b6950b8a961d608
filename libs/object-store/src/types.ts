/** Bytes that can be read more than once, each time the same ones. */
export type Body = {
  readonly sizeBytes: number;
  /** What another process needs to make the very same bytes again; empty when the source alone is enough. */
  readonly state: string;
  /** The bytes from this one on; a chunk need not be valid any more when the next one is asked for. */
  read: (from: number) => AsyncIterable<Uint8Array>;
};

export type PutRequest = {
  key: string;
  /**
   * Makes the body. `state` is that of an upload which was cut by the end of a process; a body with another state, or
   * another size, starts anew.
   */
  body: (state: string | undefined) => Body;
  /** Names the source, such as its digest. A cut upload is only resumed for the same one. */
  fingerprint: string;
  /** Lower-case names; stored in clear text beside the object. */
  metadata?: Readonly<Record<string, string>>;
  signal?: AbortSignal | undefined;
  /** Called with the bytes that the store has, in total. */
  onProgress?: ((sentBytes: number) => void) | undefined;
};

export type StoredObject = {
  etag: string;
  /** Where the bucket keeps versions. */
  versionId?: string | undefined;
  sizeBytes: number;
};

/** A small object that is written as a whole, only when the condition holds. */
export type ConditionalPut = {
  key: string;
  bytes: Uint8Array;
  /** `absent`: no such object. Otherwise the tag of the object that is replaced. */
  only: "absent" | { etag: string };
  signal?: AbortSignal | undefined;
};

export type ObjectHead = {
  key: string;
  sizeBytes: number;
  etag: string;
  modifiedAt: Date | undefined;
  versionId: string | undefined;
  metadata: Readonly<Record<string, string>>;
};

export type ListedObject = { key: string; sizeBytes: number; etag: string; modifiedAt: Date | undefined };

export type ListedVersion = {
  key: string;
  versionId: string;
  isLatest: boolean;
  /** The object was deleted here; there are no bytes. */
  isDeleteMarker: boolean;
  sizeBytes: number;
  modifiedAt: Date | undefined;
};

export type GetOptions = {
  /** First byte, 0 unless given. */
  from?: number;
  /** Last byte, inclusive. */
  to?: number;
  versionId?: string | undefined;
  /** The size that the whole object must have. */
  sizeBytes?: number | undefined;
  signal?: AbortSignal | undefined;
};

export type FoundObject = {
  head: ObjectHead;
  /** To be read once. A cut connection is resumed at the byte where it was cut. */
  bytes: AsyncIterable<Buffer>;
};

/** What a store can do; `unknown` when the credential may not ask. */
export type Capabilities = {
  /** Two writers cannot both replace one object. */
  conditionalPut: boolean;
  versioning: "enabled" | "suspended" | "off" | "unknown";
  /** What new objects get by themselves. */
  objectLock: { mode: "governance" | "compliance" | "none"; days: number | undefined } | "off" | "unknown";
};

export type ObjectStore = {
  /** Stores an object; above one part in a resumable multipart upload. Throws an `ObjectStoreError`. */
  put: (request: PutRequest) => Promise<StoredObject>;
  /** Throws `conflict` when the condition does not hold and `unsupported` where the store has no conditions. */
  putIf: (request: ConditionalPut) => Promise<StoredObject>;
  /** Undefined when there is no such object. */
  get: (key: string, options?: GetOptions) => Promise<FoundObject | undefined>;
  head: (
    key: string,
    options?: { versionId?: string; signal?: AbortSignal },
  ) => Promise<ObjectHead | undefined>;
  /** Every object whose key begins like this, in the order of keys; 1,000 for each request. */
  list: (start: string, options?: { signal?: AbortSignal }) => AsyncIterable<ListedObject>;
  /** As `list`, with every version and delete marker, where the bucket keeps them. */
  listVersions: (start: string, options?: { signal?: AbortSignal }) => AsyncIterable<ListedVersion>;
  /** An object that is not there is no error. With `versionId` that version, or that delete marker, is gone for good. */
  delete: (key: string, options?: { versionId?: string; signal?: AbortSignal }) => Promise<void>;
  /** Ends uploads that no process will resume, begun before this time; answers their keys. */
  abortAbandonedUploads: (options: { before: Date; signal?: AbortSignal }) => Promise<string[]>;
  /** Tries out what the store can do; leaves nothing behind. */
  probe: (options?: { signal?: AbortSignal }) => Promise<Capabilities>;
  /** Milliseconds that the store's clock is ahead of ours, once a request failed because of it; 0 otherwise. */
  clockOffsetMs: () => number;
  close: () => void;
};

/** One HTTP exchange, for logs and metrics. */
export type RequestEvent = {
  operation: string;
  /** 0 when there was no answer. */
  status: number;
  durationMs: number;
  problem?: string;
  /** The call is retried after this time. */
  retryInMs?: number;
};

export type ObjectStoreOptions = {
  /** `http(s)://host[:port]`; undefined = AWS in this region. */
  endpoint?: string | undefined;
  region: string;
  bucket: string;
  /** Put before each key, with a slash between; may be empty. */
  prefix: string;
  /** `https://host/bucket` instead of `https://bucket.host`. */
  pathStyle: boolean;
  accessKey: string;
  secretKey: string;
  /** Bytes a second that uploads may take; 0 = no limit. */
  uploadRate?: number;
  /** Folder in which cut uploads are remembered; undefined = they are only resumed within this process. */
  uploadDir?: string | undefined;
  onRequest?: (event: RequestEvent) => void;
  timing?: Partial<Timing>;
};

export type Timing = {
  /** Time of an object that does not depend on its size. */
  objectGraceMs: number;
  /** Time of one request that does not depend on its size. */
  requestGraceMs: number;
  /** Bytes a second that a connection must average beyond that. */
  minRate: number;
  attempts: number;
  /** Pause before the second attempt; doubles with each. */
  firstPauseMs: number;
  maxPauseMs: number;
  connectMs: number;
};
