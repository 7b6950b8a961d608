// Upload sessions as all replicas see them (docs/reference/uploads.md#session). A part is added by compare-and-set
// under a lease, so of two writers one wins, and a dead one loses its lease.

import { randomBytes } from "node:crypto";
import type { BucketEntry } from "@svc/mesh";
import { Fault, type Principal, uploads } from "@svc/proto";
import { assertMayAccess, type Wanted } from "../access.ts";
import { openWorld } from "../file/open-world.ts";
import type { UploadDeps } from "./deps.ts";

type Deps = Pick<UploadDeps, "settings" | "now" | "uploads">;

export type StoredUpload = uploads.StagedUpload;
type Entry = BucketEntry<StoredUpload>;

export function newUploadId(): string {
  return randomBytes(16).toString("hex");
}

export function receivedBytes({ parts }: Pick<StoredUpload, "parts">): number {
  return parts.reduce((sum, { size }) => sum + size, 0);
}

/** The only mapping from a stored session to the public view. */
export function toSession(upload: StoredUpload): uploads.FileUploadSession {
  const { id, path, size } = upload;
  return {
    id,
    path,
    size,
    received: receivedBytes(upload),
    part_max_bytes: uploads.partBytes,
    parts: upload.parts.map((part) => ({ size: part.size, sha256: part.sha256 })),
  };
}

/** Lifetime of an upload without activity. */
export function ttlOf(
  deps: Pick<UploadDeps, "settings">,
  { kind, parts, is_fetched }: Pick<StoredUpload, "kind" | "parts" | "is_fetched">,
): number {
  const { upload_idle, upload_empty, upload_lease, file_wait, file_deadline, file_op_deadline } =
    deps.settings.storage;
  // Its writer renews it while bytes arrive; nobody else can go on with it.
  if (is_fetched) return parts.length === 0 ? 2 * upload_lease : file_op_deadline;
  // An upload in one request cannot be resumed: it ends with its Job.
  if (kind === "single") return file_wait + file_deadline;
  return parts.length === 0 ? Math.min(upload_empty, upload_idle) : upload_idle;
}

type SessionRequest = { principal: Principal; server: string; id: string; to: Wanted["to"] };

/** A session of this account and server; throws `upload_not_found` and the faults of `openWorld`. */
export async function openSession(
  deps: Pick<UploadDeps, "mesh" | "uploads">,
  { principal, server, id, to }: SessionRequest,
): Promise<Entry> {
  const world = await openWorld(deps, { principal, server, to, writes: [] });
  const entry = await findUpload(deps, id);
  const isTheirs = principal.kind === "account" && entry?.value.user_id === principal.user_id;
  if (!entry || !isTheirs || !isSessionOf(entry.value, server)) {
    throw new Fault("upload_not_found");
  }
  // The caller's access may have changed since the upload was begun.
  assertMayAccess(principal, world, { to, writes: [entry.value.path] });
  return entry;
}

function isSessionOf({ kind, is_fetched, ...upload }: StoredUpload, server: string): boolean {
  return kind === "session" && !is_fetched && upload.server === server;
}

export async function findUpload(deps: Pick<UploadDeps, "uploads">, id: string): Promise<Entry | undefined> {
  return /^[0-9a-f]{32}$/.test(id) ? deps.uploads.get(id) : undefined;
}

export function assertNoWriter({ writer }: StoredUpload, now: number): void {
  if (writer && writer.until > now) throw new Fault("upload_busy");
}

/** Throws `upload_offset_mismatch` or `part_too_large` for a part that does not continue the upload. Pure. */
export function checkPart(
  upload: StoredUpload,
  part: { offset: number; length: number },
  mostParts: number,
): void {
  if (part.length === 0) throw new Fault("bad_request", { message: "A part must have at least one byte." });
  const received = receivedBytes(upload);
  if (part.offset !== received) {
    throw new Fault("upload_offset_mismatch", { message: `The next part starts at ${received}.` });
  }
  if (part.length > uploads.partBytes || part.offset + part.length > upload.size) {
    throw new Fault("part_too_large");
  }
  if (upload.parts.length >= mostParts) {
    const message = `An upload may have at most ${mostParts} parts; start again with larger ones.`;
    throw new Fault("bad_request", { message });
  }
}

/**
 * The upload without a writer: an expired lease is revoked, so that a stalled writer cannot add a part whose bytes are
 * gone. Undefined while a writer is active.
 */
export async function releaseExpiredWriter(
  deps: Deps,
  { value, revision }: Pick<Entry, "value" | "revision">,
): Promise<StoredUpload | undefined> {
  const { writer, ...upload } = value;
  if (!writer) return value;
  if (writer.until > deps.now()) return undefined;
  const written = await deps.uploads.update(value.id, upload, revision, { ttlMs: ttlOf(deps, value) });
  return written === undefined ? undefined : upload;
}

export type Lease = AsyncDisposable & {
  readonly signal: AbortSignal;
  /** The session as this writer last wrote it. */
  readonly upload: StoredUpload;
  /** Writes and releases the lease; throws `upload_busy` when it was lost. */
  finish: (change: (upload: StoredUpload) => StoredUpload) => Promise<StoredUpload>;
};

/** Acquires the writer's lease of a session and renews it. Throws `upload_busy`. */
export async function acquireLease(deps: Deps, entry: Pick<Entry, "value" | "revision">): Promise<Lease> {
  const { upload_lease: leaseMs } = deps.settings.storage;
  assertNoWriter(entry.value, deps.now());
  const id = randomBytes(8).toString("hex");
  const lost = new AbortController();
  let { value: upload, revision } = entry;
  let isOver = false;
  // Serialized: each write needs the revision of the previous one.
  let last: Promise<unknown> = Promise.resolve();
  const write = (change: (upload: StoredUpload) => StoredUpload): Promise<StoredUpload> => {
    const work = last.then(async () => {
      const next = change(upload);
      const written = await deps.uploads.update(upload.id, next, revision, { ttlMs: ttlOf(deps, next) });
      if (written === undefined) throw new Fault("upload_busy");
      [upload, revision] = [next, written];
      return next;
    });
    last = work.catch(() => {});
    return work;
  };
  const renewed = (now: StoredUpload) => ({ ...now, writer: { id, until: deps.now() + leaseMs } });
  await write(renewed);
  const timer = setInterval(() => {
    write(renewed).catch((error: Error) => lost.abort(error));
  }, leaseMs / 3);
  const end = () => {
    isOver = true;
    clearInterval(timer);
  };
  const released = ({ writer: _writer, ...now }: StoredUpload): StoredUpload => now;
  return {
    signal: lost.signal,
    get upload() {
      return upload;
    },
    finish: async (change) => {
      end();
      lost.signal.throwIfAborted();
      return write((now) => released(change(now)));
    },
    [Symbol.asyncDispose]: async () => {
      if (isOver) return;
      end();
      await write(released).catch(() => {});
    },
  };
}
