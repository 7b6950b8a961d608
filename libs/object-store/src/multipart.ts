// Uploads in parts that survive the end of a process (docs/reference/off-site.md#uploads).

import { randomUUID } from "node:crypto";
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  ListPartsCommand,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import type { Connection } from "./connection.ts";
import { ObjectStoreError } from "./error.ts";
import { codeOf, statusOf } from "./explain.ts";
import { readParts } from "./part-reader.ts";
import { paced, payloadOf, signPayload } from "./put.ts";
import type { Body, ObjectHead, PutRequest, StoredObject } from "./types.ts";
import type { UploadLog, UploadRecord } from "./upload-log.ts";

const parallel = 2;
const maxParts = 10_000;
const mebibyte = 1024 * 1024;
/** What is larger is sent in parts. */
export const largestSingleBytes = 8 * mebibyte;
/** The least that S3 takes, but of the last part. */
const smallestPartBytes = 5 * mebibyte;
/** Name in the metadata of an object under which its upload is found again. */
const markerName = "svc-upload";

/** Size of the parts of an object: as few as parts of 8 MiB would be, or more where these were too many, and all alike: two are in memory. */
function partBytesOf(sizeBytes: number): number {
  const whole = (bytes: number) => Math.ceil(bytes / mebibyte) * mebibyte;
  const most = Math.max(largestSingleBytes, whole(sizeBytes / maxParts));
  return Math.max(smallestPartBytes, whole(sizeBytes / Math.ceil(sizeBytes / most)));
}

type Uploads = {
  connection: Connection;
  log: UploadLog;
  head: (key: string, options: { signal?: AbortSignal }) => Promise<ObjectHead | undefined>;
};

type Request = PutRequest & { signal: AbortSignal };

/** Stores an object in parts; goes on with an upload of the same source that was cut. */
export async function putInParts(uploads: Uploads, request: Request): Promise<StoredObject> {
  const found = await findCut(uploads, request);
  if (found?.isComplete) return found.stored;
  const { record, body } = found ?? (await begin(uploads, request));
  try {
    await sendParts(uploads, request, { record, body });
    return await complete(uploads, request, record);
  } catch (error) {
    if (isChanged(error)) await discard(uploads, record, request.signal);
    throw error;
  }
}

type Started = { record: UploadRecord; body: Body };
type Found = (Started & { isComplete: false }) | { isComplete: true; stored: StoredObject };

async function findCut(uploads: Uploads, request: Request): Promise<Found | undefined> {
  const { log } = uploads;
  const { key, fingerprint, signal } = request;
  const record = await log.load(key);
  if (!record) return undefined;
  const body = record.fingerprint === fingerprint ? request.body(record.state) : undefined;
  if (!body || body.state !== record.state || body.sizeBytes !== record.sizeBytes) {
    await discard(uploads, record, signal);
    return undefined;
  }
  const stored = await storedParts(uploads, record, signal);
  if (!stored) {
    const completed = await findCompleted(uploads, record, signal);
    await log.remove(key);
    return completed && { isComplete: true, stored: completed };
  }
  for (const part of Object.values(record.parts)) {
    if (part.etag !== undefined && !stored.has(part.etag)) delete part.etag;
  }
  return { isComplete: false, record, body };
}

/** Tags of the parts that the store has; undefined when it does not know the upload. */
async function storedParts({ connection }: Uploads, record: UploadRecord, signal: AbortSignal) {
  const { client, bucket, fullKey, call } = connection;
  const input = { Bucket: bucket, Key: fullKey(record.key), UploadId: record.uploadId };
  const tags = new Set<string>();
  let marker: string | undefined;
  try {
    // Not the SDK's paginator: Swift names a next marker after the last page too, and begins again there.
    for (;;) {
      const page = await call("list parts", { signal, expect: isNoUpload }, (attempt) =>
        client.send(
          new ListPartsCommand({ ...input, ...(marker !== undefined && { PartNumberMarker: marker }) }),
          { abortSignal: attempt },
        ),
      );
      for (const { ETag = "" } of page.Parts ?? []) tags.add(ETag);
      if (!page.IsTruncated || Number(page.NextPartNumberMarker ?? 0) <= Number(marker ?? 0)) return tags;
      marker = page.NextPartNumberMarker;
    }
  } catch (error) {
    if (isNoUpload(error)) return undefined;
    throw error;
  }
}

const isNoUpload = (error: unknown) => statusOf(error) === 404 && codeOf(error) !== "NoSuchBucket";
/** Our own finding, or that of a sealed body. */
const isChanged = (error: unknown) =>
  error instanceof Error &&
  "problem" in error &&
  (error.problem === "changed" || error.problem === "source_changed");

/** The object, when it is the result of this upload. */
async function findCompleted({ head }: Uploads, record: UploadRecord, signal: AbortSignal) {
  const found = await head(record.key, { signal });
  if (found?.metadata[markerName] !== record.marker || found.sizeBytes !== record.sizeBytes) return undefined;
  return { etag: found.etag, versionId: found.versionId, sizeBytes: found.sizeBytes };
}

async function begin({ connection, log }: Uploads, request: Request): Promise<Started> {
  const { client, bucket, fullKey, call } = connection;
  const { key, fingerprint, metadata, signal } = request;
  const body = request.body(undefined);
  const marker = randomUUID();
  const { UploadId } = await call("begin an upload", { signal }, (attempt) =>
    client.send(
      new CreateMultipartUploadCommand({
        Bucket: bucket,
        Key: fullKey(key),
        ContentType: "application/octet-stream",
        Metadata: { ...metadata, [markerName]: marker },
      }),
      { abortSignal: attempt },
    ),
  );
  if (UploadId === undefined)
    throw new ObjectStoreError("malformed", "the store began an upload without an id");
  const { sizeBytes, state } = body;
  const partBytes = partBytesOf(sizeBytes);
  const record = { key, uploadId: UploadId, marker, fingerprint, sizeBytes, partBytes, state, parts: {} };
  await log.save(record);
  return { record, body };
}

async function sendParts(uploads: Uploads, request: Request, { record, body }: Started): Promise<void> {
  const { sizeBytes, partBytes, parts } = record;
  const failing = new AbortController();
  const signal = AbortSignal.any([request.signal, failing.signal]);
  const reader = readParts(body);
  const running = new Set<Promise<void>>();
  const buffers = createPartBuffers(partBytes);
  let failure: { error: unknown } | undefined;
  let sentBytes = 0;
  const count = Math.ceil(sizeBytes / partBytes);
  try {
    for (let number = 1; number <= count && !failure; number += 1) {
      const from = (number - 1) * partBytes;
      const length = Math.min(partBytes, sizeBytes - from);
      const done = () => {
        sentBytes += length;
        request.onProgress?.(sentBytes);
      };
      if (parts[number]?.etag !== undefined) {
        done();
        continue;
      }
      const buffer = buffers.take();
      const bytes = buffer.subarray(0, length);
      await reader.fill(from, bytes);
      const sending = sendPart(uploads, record, { number, bytes, signal })
        .then(
          () => {
            // One that failed may still be on its way.
            buffers.putBack(buffer);
            done();
          },
          (error: unknown) => {
            failure ??= { error };
            failing.abort();
          },
        )
        .finally(() => running.delete(sending));
      running.add(sending);
      if (running.size >= parallel) await Promise.race(running);
    }
  } catch (error) {
    failure ??= { error };
    failing.abort();
  }
  await Promise.all(running);
  await reader.close();
  if (failure) throw failure.error;
  // A store may answer before it has read everything; then the kernel is still to read from them.
  if (uploads.connection.isIdle()) buffers.free();
}

/** Memory of the parts of one upload, used again and again: new memory would wait for the garbage collector, and so would this. */
function createPartBuffers(bytes: number) {
  const spare: Buffer[] = [];
  return {
    take: () => spare.pop() ?? Buffer.allocUnsafeSlow(bytes),
    putBack: (buffer: Buffer) => void spare.push(buffer),
    free: () => {
      for (const { buffer } of spare.splice(0)) if (buffer instanceof ArrayBuffer) buffer.transfer(0);
    },
  };
}

type Part = { number: number; bytes: Buffer; signal: AbortSignal };

async function sendPart(
  { connection, log }: Uploads,
  record: UploadRecord,
  { number, bytes, signal }: Part,
): Promise<void> {
  const { client, bucket, fullKey, call } = connection;
  const payload = payloadOf(bytes);
  const sha256 = payload.sha256.toString("hex");
  const known = record.parts[number];
  // A part may have left this machine: other bytes under the same nonces must never follow it.
  if (known && known.sha256 !== sha256)
    throw new ObjectStoreError(
      "changed",
      `the source of ${record.key} changed since its upload was cut; it is uploaded anew next time`,
    );
  record.parts[number] = { sha256 };
  await log.save(record);
  const { ETag } = await call("upload a part", { signal, bytes: bytes.length }, (attempt) => {
    const command = new UploadPartCommand({
      Bucket: bucket,
      Key: fullKey(record.key),
      UploadId: record.uploadId,
      PartNumber: number,
      Body: paced(connection, bytes, attempt),
      ContentLength: bytes.length,
    });
    signPayload(command, payload);
    return client.send(command, { abortSignal: attempt });
  });
  if (ETag === undefined) throw new ObjectStoreError("malformed", "the store took a part without a tag");
  record.parts[number] = { sha256, etag: ETag };
  await log.save(record);
}

async function complete(uploads: Uploads, { signal }: Request, record: UploadRecord): Promise<StoredObject> {
  const { connection, log } = uploads;
  const { client, bucket, fullKey, call } = connection;
  const numbers = Object.keys(record.parts)
    .map(Number)
    .toSorted((one, two) => one - two);
  const Parts = numbers.map((number) => ({ PartNumber: number, ETag: record.parts[number]?.etag }));
  const input = {
    Bucket: bucket,
    Key: fullKey(record.key),
    UploadId: record.uploadId,
    MultipartUpload: { Parts },
  };
  const finish = async (): Promise<StoredObject> => {
    try {
      const answer = await call("complete an upload", { signal, expect: isNoUpload }, (attempt) =>
        client.send(new CompleteMultipartUploadCommand(input), { abortSignal: attempt }),
      );
      return { etag: answer.ETag ?? "", versionId: answer.VersionId, sizeBytes: record.sizeBytes };
    } catch (error) {
      // An earlier attempt may have been carried out, and only its answer was lost.
      const completed = isNoUpload(error) && (await findCompleted(uploads, record, signal));
      if (completed) return completed;
      throw connection.explain("complete an upload", error);
    }
  };
  const stored = await finish();
  await log.remove(record.key);
  return stored;
}

async function abort({ connection }: Uploads, upload: { fullKey: string; id: string }, signal?: AbortSignal) {
  const { client, bucket, call } = connection;
  const input = { Bucket: bucket, Key: upload.fullKey, UploadId: upload.id };
  try {
    await call("abort an upload", { signal, expect: isNoUpload }, (attempt) =>
      client.send(new AbortMultipartUploadCommand(input), { abortSignal: attempt }),
    );
  } catch (error) {
    if (!isNoUpload(error)) throw error;
  }
}

async function discard(uploads: Uploads, record: UploadRecord, signal: AbortSignal): Promise<void> {
  await abort(uploads, { fullKey: uploads.connection.fullKey(record.key), id: record.uploadId }, signal);
  await uploads.log.remove(record.key);
}

/** See `ObjectStore.abortAbandonedUploads`. */
export async function abortAbandoned(
  uploads: Uploads,
  { before, signal }: { before: Date; signal?: AbortSignal | undefined },
): Promise<string[]> {
  const { client, bucket, fullKey, ownKey, call } = uploads.connection;
  const resumable = await uploads.log.uploadIds();
  const start = fullKey("x").slice(0, -1);
  const aborted: string[] = [];
  let marker: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } = {};
  for (;;) {
    const page = await call("list uploads", { signal }, (attempt) =>
      client.send(new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: start, ...marker }), {
        abortSignal: attempt,
      }),
    );
    for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
      if (Key === undefined || UploadId === undefined || resumable.has(UploadId)) continue;
      if (!Initiated || Initiated >= before) continue;
      await abort(uploads, { fullKey: Key, id: UploadId }, signal);
      aborted.push(ownKey(Key));
    }
    const next = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker };
    const isSame = next.KeyMarker === marker.KeyMarker && next.UploadIdMarker === marker.UploadIdMarker;
    if (!page.IsTruncated || next.KeyMarker === undefined || isSame) return aborted;
    marker = next;
  }
}
