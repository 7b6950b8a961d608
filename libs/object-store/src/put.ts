import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { PutObjectCommand, type PutObjectCommandInput } from "@aws-sdk/client-s3";
import type { MiddlewareStack } from "@smithy/types";
import type { Connection } from "./connection.ts";
import { ObjectStoreError } from "./error.ts";
import { isClockCorrected, statusOf } from "./explain.ts";
import type { ConditionalPut, StoredObject } from "./types.ts";

/** What is sent in one request. */
type Payload = { bytes: Uint8Array; sha256: Buffer };

export const payloadOf = (bytes: Uint8Array): Payload => ({
  bytes,
  sha256: createHash("sha256").update(bytes).digest(),
});

/** Body of a request: the bytes, or a stream of them at the rate of the limit. */
export function paced(connection: Connection, bytes: Uint8Array, signal: AbortSignal): Uint8Array | Readable {
  const { rateLimit } = connection;
  if (!rateLimit) return bytes;
  const slice = 64 * 1024;
  return Readable.from(
    (async function* () {
      for (let at = 0; at < bytes.length; at += slice) {
        const piece = bytes.subarray(at, at + slice);
        await rateLimit.take(piece.length, signal);
        yield piece;
      }
    })(),
    { objectMode: false },
  );
}

/** Signs the digest that is known already: the store refuses a body that arrives with other bytes. */
export function signPayload<Input extends object, Output extends object>(
  { middlewareStack }: { middlewareStack: MiddlewareStack<Input, Output> },
  { sha256 }: Payload,
): void {
  middlewareStack.add(
    (next) => (args) => {
      const { headers } = args.request as { headers: Record<string, string> };
      headers["x-amz-content-sha256"] = sha256.toString("hex");
      return next(args);
    },
    { step: "build", name: "signPayload" },
  );
}

type WholePut = {
  key: string;
  payload: Payload;
  metadata?: Readonly<Record<string, string>> | undefined;
  signal?: AbortSignal | undefined;
};

const isFinal = (error: unknown) => !isClockCorrected(error);

/** Stores an object in one request. */
export async function putWhole(
  connection: Connection,
  { key, payload, metadata, signal }: WholePut,
  condition: Pick<PutObjectCommandInput, "IfMatch" | "IfNoneMatch"> = {},
): Promise<StoredObject> {
  const { client, bucket, fullKey, call } = connection;
  const sizeBytes = payload.bytes.length;
  const isConditional = Object.keys(condition).length > 0;
  // A repeated conditional put could fail by its own first attempt.
  const options = { signal, bytes: sizeBytes, ...(isConditional && { expect: isFinal }) };
  const { ETag, VersionId } = await call("put", options, (attempt) => {
    const command = new PutObjectCommand({
      Bucket: bucket,
      Key: fullKey(key),
      Body: paced(connection, payload.bytes, attempt),
      ContentLength: sizeBytes,
      ContentType: "application/octet-stream",
      ...(metadata && { Metadata: { ...metadata } }),
      ...condition,
    });
    signPayload(command, payload);
    return client.send(command, { abortSignal: attempt });
  });
  if (ETag === undefined) throw new ObjectStoreError("malformed", "the store answered a put without a tag");
  return { etag: ETag, versionId: VersionId, sizeBytes };
}

/** See `ObjectStore.putIf`. */
export async function putIf(connection: Connection, request: ConditionalPut): Promise<StoredObject> {
  const { key, bytes, only, signal } = request;
  const condition = only === "absent" ? { IfNoneMatch: "*" } : { IfMatch: only.etag };
  try {
    return await putWhole(connection, { key, payload: payloadOf(bytes), signal }, condition);
  } catch (error) {
    // A condition on an object that is gone.
    if (only !== "absent" && statusOf(error) === 404)
      throw new ObjectStoreError("conflict", `${key} was deleted meanwhile`);
    throw connection.explain("put with a condition", error);
  }
}
