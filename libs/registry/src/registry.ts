import { setTimeout as delay } from "node:timers/promises";
import { type BlobRef, type BlobSource, digestOf, upload, verified } from "./blob.ts";
import { isRegistryError, malformed } from "./error.ts";
import { listAll } from "./list.ts";
import { mediaTypes } from "./manifest.ts";
import { retried } from "./retry.ts";
import {
  type Answer,
  type Call,
  createTransport,
  discard,
  type RegistryOptions,
  readBody,
  type Transport,
} from "./transport.ts";

export type Manifest = {
  mediaType: string;
  digest: string;
  bytes: Buffer;
  /** Of its last push, in whole seconds; the platform's gate knows it, a registry alone does not. */
  pushedAt?: Date;
};

type ManifestHead = { mediaType: string; digest: string; size: number };

/**
 * One registry. `path` is the path of a repository below the host, `reference` a tag or a digest. Every call throws
 * `RegistryError`; bytes that don't match the digest they were requested by are never returned as a whole.
 */
export type Registry = {
  host: string;
  /** Undefined when the registry has no such manifest. */
  headManifest: (path: string, reference: string, signal?: AbortSignal) => Promise<ManifestHead | undefined>;
  /** At most 4 MiB. Undefined when the registry has no such manifest. */
  getManifest: (path: string, reference: string, signal?: AbortSignal) => Promise<Manifest | undefined>;
  /** Returns the digest. */
  putManifest: (path: string, reference: string, manifest: NewManifest) => Promise<string>;
  /**
   * False when there was none, or when it was pushed after `unmodifiedSince`. Every tag of the digest goes with it.
   */
  deleteManifest: (path: string, digest: string, condition?: Condition) => Promise<boolean>;
  /** Throws in the middle or at the end of the iteration when the bytes are not those of the digest. */
  getBlob: (path: string, blob: BlobRef, signal?: AbortSignal) => AsyncIterable<Buffer>;
  hasBlob: (path: string, digest: string, signal?: AbortSignal) => Promise<boolean>;
  /** Sends a blob unless the repository has it, or can have it from `mountFrom`; true when it was sent. */
  putBlob: (path: string, blob: BlobSource, signal?: AbortSignal) => Promise<boolean>;
  /** None for a repository that does not exist. */
  listTags: (path: string, signal?: AbortSignal) => Promise<string[]>;
  /** Paths of all repositories, of those without tags too. */
  listRepositories: (signal?: AbortSignal) => Promise<string[]>;
  /** What the registry lists as referring to a manifest; undefined for one without this API (OCI distribution 1.0). */
  readReferrers: (path: string, digest: string, signal?: AbortSignal) => Promise<Buffer | undefined>;
};

type Condition = { unmodifiedSince?: Date; signal?: AbortSignal };

type NewManifest = { mediaType: string; bytes: Buffer; signal?: AbortSignal | undefined };

const manifestBytes = 4 << 20;
// Lists first: the digest of an image for several platforms must be that of its list.
const accept = [mediaTypes.index, mediaTypes.dockerList, mediaTypes.manifest, mediaTypes.dockerManifest];
const digestShape = /^sha256:[0-9a-f]{64}$/;

/** Opens no connection; every call is one or a few requests. */
export function openRegistry(options: RegistryOptions): Registry {
  const { pageEntries } = options;
  const transport = createTransport(options);
  const repeated = <Value>(act: () => Promise<Value>, signal: AbortSignal | undefined) =>
    retried(act, { forMs: options.retryForMs ?? 0, signal });
  return {
    host: options.host,
    headManifest: (path, reference, signal) =>
      repeated(() => headManifest(transport, manifestOf(path, reference), signal), signal),
    getManifest: (path, reference, signal) =>
      repeated(() => getManifest(transport, manifestOf(path, reference), signal), signal),
    putManifest: (path, reference, manifest) =>
      repeated(() => putLinked(transport, manifestOf(path, reference), manifest), manifest.signal),
    deleteManifest: async (path, digest, { unmodifiedSince, signal } = {}) => {
      const headers = unmodifiedSince && { "if-unmodified-since": unmodifiedSince.toUTCString() };
      const call = {
        method: "DELETE",
        path: manifestOf(path, digest).path,
        signal,
        ...(headers && { headers }),
      };
      const answer = await transport.send(call as Call, [202, 404, 412]);
      await discard(answer);
      return answer.status === 202;
    },
    getBlob: (path, blob, signal) => getBlob(transport, { path, ...blob }, signal),
    hasBlob: (path, digest, signal) =>
      repeated(() => hasBlob(transport, `/v2/${path}/blobs/${digest}`, signal), signal),
    putBlob: (path, blob, signal) =>
      repeated(async () => {
        if (await hasBlob(transport, `/v2/${path}/blobs/${blob.digest}`, signal)) return false;
        return upload(transport, path, { ...blob, signal });
      }, signal),
    listTags: (path, signal) =>
      repeated(
        () => listAll(transport, { path: `/v2/${path}/tags/list`, field: "tags", pageEntries, signal }),
        signal,
      ),
    listRepositories: (signal) =>
      repeated(
        () => listAll(transport, { path: "/v2/_catalog", field: "repositories", pageEntries, signal }),
        signal,
      ),
    readReferrers: (path, digest, signal) =>
      repeated(() => readReferrers(transport, `/v2/${path}/referrers/${digest}`, signal), signal),
  };
}

type Place = { path: string; reference: string };

function manifestOf(path: string, reference: string): Place {
  return { path: `/v2/${path}/manifests/${reference}`, reference };
}

async function headManifest(
  transport: Transport,
  { path, reference }: Place,
  signal: AbortSignal | undefined,
): Promise<ManifestHead | undefined> {
  const headers = { accept: accept.join(", ") };
  const answer = await transport.send({ method: "HEAD", path, headers, signal }, [200, 404]);
  await discard(answer);
  if (answer.status === 404) return undefined;
  const digest = digestNamed(answer);
  if (digest === undefined) throw malformed(`the registry named no digest for ${path}`);
  assertAskedFor(reference, digest);
  return { mediaType: typeOf(answer), digest, size: Number(answer.headers["content-length"] ?? 0) };
}

async function getManifest(
  transport: Transport,
  { path, reference }: Place,
  signal: AbortSignal | undefined,
): Promise<Manifest | undefined> {
  const headers = { accept: accept.join(", ") };
  const answer = await transport.send({ method: "GET", path, headers, signal }, [200, 404]);
  const bytes = await readBody(answer, manifestBytes, signal);
  if (answer.status === 404) return undefined;
  const digest = digestOf(bytes);
  const named = digestNamed(answer);
  if (named !== undefined && named !== digest)
    throw malformed(`the registry named ${named} for the manifest ${digest}`);
  assertAskedFor(reference, digest);
  return { mediaType: typeOf(answer), digest, bytes, ...pushTimeOf(answer) };
}

/** Waits before each repetition, milliseconds. */
const linkWaitsMs = [20, 80, 320, 1_280] as const;

/**
 * A registry that keeps files writes the link of a blob anew when another push sends that blob, and reads it as an invalid digest
 * until that is done. Ours are never invalid, so the same bytes are sent again.
 */
async function putLinked(transport: Transport, place: Place, manifest: NewManifest): Promise<string> {
  for (const waitMs of linkWaitsMs) {
    try {
      return await putManifest(transport, place, manifest);
    } catch (error) {
      if (!isRegistryError(error) || error.code !== "DIGEST_INVALID") throw error;
    }
    await delay(waitMs, undefined, { signal: manifest.signal });
  }
  return putManifest(transport, place, manifest);
}

async function putManifest(
  transport: Transport,
  place: Place,
  { mediaType, bytes, signal }: NewManifest,
): Promise<string> {
  const headers = { "content-type": mediaType };
  const call = { method: "PUT", path: place.path, headers, body: bytes, signal } as const;
  const answer = await transport.send(call, [201]);
  await discard(answer);
  const digest = digestOf(bytes);
  const named = digestNamed(answer) ?? (await headManifest(transport, place, signal))?.digest;
  if (named !== digest) throw malformed(`the registry named ${named} for the manifest ${digest}`);
  return digest;
}

async function readReferrers(
  transport: Transport,
  path: string,
  signal: AbortSignal | undefined,
): Promise<Buffer | undefined> {
  const answer = await transport.send({ method: "GET", path, signal }, [200, 404]);
  const bytes = await readBody(answer, manifestBytes, signal);
  return answer.status === 404 ? undefined : bytes;
}

async function hasBlob(
  transport: Transport,
  path: string,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const answer = await transport.send({ method: "HEAD", path, signal }, [200, 404]);
  await discard(answer);
  return answer.status === 200;
}

async function* getBlob(
  transport: Transport,
  { path, digest, size }: BlobRef & { path: string },
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer> {
  const call = { method: "GET", path: `/v2/${path}/blobs/${digest}`, bytes: size, signal } as const;
  yield* verified(await transport.send(call, [200]), { digest, size }, signal);
}

function digestNamed({ headers }: Answer): string | undefined {
  const digest = headers["docker-content-digest"];
  if (digest === undefined) return undefined;
  if (typeof digest !== "string" || !digestShape.test(digest))
    throw malformed(`the registry named the digest ${String(digest).slice(0, 100)}`);
  return digest;
}

function pushTimeOf({ headers }: Answer): { pushedAt?: Date } {
  const at = Date.parse(String(headers["last-modified"] ?? ""));
  return Number.isNaN(at) ? {} : { pushedAt: new Date(at) };
}

function assertAskedFor(reference: string, digest: string): void {
  if (reference.includes(":") && reference !== digest)
    throw malformed(`the registry has ${digest} for ${reference}`);
}

function typeOf({ headers }: Answer): string {
  return (
    String(headers["content-type"] ?? "")
      .split(";")[0]
      ?.trim() ?? ""
  );
}
