import { DeleteObjectCommand, HeadObjectCommand, ListObjectsV2Command } from "@aws-sdk/client-s3";
import { type Connection, connect } from "./connection.ts";
import { isObjectStoreError } from "./error.ts";
import { get, isNoKey, lengthOf } from "./get.ts";
import { list, listVersions } from "./list.ts";
import { abortAbandoned, largestSingleBytes, putInParts } from "./multipart.ts";
import { readParts } from "./part-reader.ts";
import { probe } from "./probe.ts";
import { payloadOf, putIf, putWhole } from "./put.ts";
import { timeFor } from "./timing.ts";
import type { ObjectHead, ObjectStore, ObjectStoreOptions, PutRequest, StoredObject } from "./types.ts";
import { folderUploadLog, memoryUploadLog } from "./upload-log.ts";

/** Opens a bucket of an S3 store; the first request is made by the first call. */
export function openObjectStore(options: ObjectStoreOptions): ObjectStore {
  const connection = connect(options);
  const log = options.uploadDir === undefined ? memoryUploadLog() : folderUploadLog(options.uploadDir);
  const checkBucket = createBucketCheck(connection);
  const head: ObjectStore["head"] = async (key, about = {}) => {
    const found = await readHead(connection, key, about).catch(async (error: unknown) => {
      if (isObjectStoreError(error, "denied")) await checkBucket(about.signal);
      throw error;
    });
    if (!found) await checkBucket(about.signal);
    return found;
  };
  const remove: ObjectStore["delete"] = (key, about = {}) => removeObject(connection, key, about);
  const uploads = { connection, log, head };
  return {
    head,
    delete: remove,
    putIf: (request) => putIf(connection, request),
    get: (key, about = {}) => get(connection, key, about),
    list: (start, about) => list(connection, start, about),
    listVersions: (start, about) => listVersions(connection, start, about),
    abortAbandonedUploads: (about) => abortAbandoned(uploads, about),
    probe: (about) => probe(connection, remove, about),
    clockOffsetMs: connection.clockOffsetMs,
    close: () => connection.client.destroy(),
    put: (request) => put(uploads, request),
  };
}

type Uploads = Parameters<typeof putInParts>[0];

async function put(uploads: Uploads, request: PutRequest): Promise<StoredObject> {
  const { timing, uploadRate } = uploads.connection;
  const body = request.body(undefined);
  const { sizeBytes } = body;
  const { objectGraceMs, minRate } = timing;
  const deadline = AbortSignal.timeout(timeFor(sizeBytes, { graceMs: objectGraceMs, minRate, uploadRate }));
  const signal = request.signal ? AbortSignal.any([request.signal, deadline]) : deadline;
  try {
    if (sizeBytes > largestSingleBytes) return await putInParts(uploads, { ...request, signal });
    const reader = readParts(body);
    const bytes = Buffer.allocUnsafe(sizeBytes);
    await reader.fill(0, bytes).finally(reader.close);
    const { key, metadata } = request;
    const stored = await putWhole(uploads.connection, { key, payload: payloadOf(bytes), metadata, signal });
    request.onProgress?.(sizeBytes);
    return stored;
  } catch (error) {
    if (!deadline.aborted || request.signal?.aborted) throw error;
    throw uploads.connection.explain("put", new Error(`${request.key} was not stored within its time`));
  }
}

type About = { versionId?: string; signal?: AbortSignal };

/**
 * The answer to a head has no body: it does not tell a missing bucket from a missing object, or a wrong secret from a
 * missing right. A list tells, once.
 */
function createBucketCheck({ client, bucket, call }: Connection) {
  let isKnown = false;
  return async (signal: AbortSignal | undefined): Promise<void> => {
    if (isKnown) return;
    await call("list", { signal }, (attempt) =>
      client.send(new ListObjectsV2Command({ Bucket: bucket, MaxKeys: 1 }), { abortSignal: attempt }),
    );
    isKnown = true;
  };
}

async function readHead(
  { client, bucket, fullKey, call }: Connection,
  key: string,
  { versionId, signal }: About,
): Promise<ObjectHead | undefined> {
  try {
    const answer = await call("head", { signal, expect: isNoKey }, (attempt) =>
      client.send(
        new HeadObjectCommand({
          Bucket: bucket,
          Key: fullKey(key),
          ...(versionId !== undefined && { VersionId: versionId }),
        }),
        { abortSignal: attempt },
      ),
    );
    return {
      key,
      sizeBytes: lengthOf(key, answer),
      etag: answer.ETag ?? "",
      modifiedAt: answer.LastModified,
      versionId: answer.VersionId,
      metadata: answer.Metadata ?? {},
    };
  } catch (error) {
    if (isNoKey(error)) return undefined;
    throw error;
  }
}

async function removeObject(
  { client, bucket, fullKey, call }: Connection,
  key: string,
  { versionId, signal }: About,
): Promise<void> {
  const input = {
    Bucket: bucket,
    Key: fullKey(key),
    ...(versionId !== undefined && { VersionId: versionId }),
  };
  try {
    await call("delete", { signal, expect: isNoKey }, (attempt) =>
      client.send(new DeleteObjectCommand(input), { abortSignal: attempt }),
    );
  } catch (error) {
    if (!isNoKey(error)) throw error;
  }
}
