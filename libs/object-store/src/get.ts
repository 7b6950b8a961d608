import { GetObjectCommand, type GetObjectCommandOutput } from "@aws-sdk/client-s3";
import { type Connection, sleep } from "./connection.ts";
import { ObjectStoreError } from "./error.ts";
import { codeOf, statusOf } from "./explain.ts";
import { pauseAfter } from "./timing.ts";
import type { FoundObject, GetOptions, ObjectHead } from "./types.ts";
import { withinTime } from "./within-time.ts";

/** Whether a key, and not its bucket, was not found. */
export const isNoKey = (error: unknown): boolean =>
  statusOf(error) === 404 && codeOf(error) !== "NoSuchBucket";

/** A read that got this far begins to count its attempts anew. */
const progressBytes = 1024 * 1024;

/** See `ObjectStore.get`. */
export async function get(
  connection: Connection,
  key: string,
  options: GetOptions,
): Promise<FoundObject | undefined> {
  const { from = 0, to, sizeBytes } = options;
  const answer = await request(connection, key, { ...options, from }).catch((error: unknown) => {
    if (isNoKey(error)) return undefined;
    throw error;
  });
  if (!answer) return undefined;
  const head = headIn(key, answer);
  if (sizeBytes !== undefined && head.sizeBytes !== sizeBytes) {
    destroy(answer);
    throw new ObjectStoreError("malformed", `${key} has ${head.sizeBytes} bytes instead of ${sizeBytes}`);
  }
  const end = Math.min(to ?? head.sizeBytes - 1, head.sizeBytes - 1) + 1;
  return { head, bytes: readOn(connection, { ...options, key, head, from, end }, answer) };
}

type Range = {
  from: number;
  to?: number;
  versionId?: string | undefined;
  etag?: string;
  signal?: AbortSignal | undefined;
};

async function request(connection: Connection, key: string, range: Range): Promise<GetObjectCommandOutput> {
  const { client, bucket, fullKey, call } = connection;
  const { from, to, versionId, etag, signal } = range;
  const isWhole = from === 0 && to === undefined;
  const answer = await call("get", { signal, expect: isNoKey }, (attempt) =>
    client.send(
      new GetObjectCommand({
        Bucket: bucket,
        Key: fullKey(key),
        ...(!isWhole && { Range: `bytes=${from}-${to ?? ""}` }),
        ...(versionId !== undefined && { VersionId: versionId }),
        ...(etag !== undefined && { IfMatch: etag }),
      }),
      { abortSignal: attempt },
    ),
  );
  const begins = isWhole ? 0 : Number(/^bytes (\d+)-/.exec(answer.ContentRange ?? "")?.[1]);
  if (begins === from) return answer;
  destroy(answer);
  throw new ObjectStoreError(
    "malformed",
    `the store answered with other bytes of ${key} than byte ${from} on`,
  );
}

function headIn(key: string, answer: GetObjectCommandOutput): ObjectHead {
  try {
    return headOf(key, answer);
  } catch (error) {
    destroy(answer);
    throw error;
  }
}

function headOf(key: string, answer: GetObjectCommandOutput): ObjectHead {
  const whole = /\/(\d+)$/.exec(answer.ContentRange ?? "")?.[1];
  return {
    key,
    sizeBytes: whole === undefined ? lengthOf(key, answer) : Number(whole),
    etag: answer.ETag ?? "",
    modifiedAt: answer.LastModified,
    versionId: answer.VersionId,
    metadata: answer.Metadata ?? {},
  };
}

/** An answer without a length tells nothing of the object: it is not an empty one. */
export function lengthOf(key: string, { ContentLength }: { ContentLength?: number | undefined }): number {
  if (ContentLength !== undefined) return ContentLength;
  throw new ObjectStoreError("malformed", `the store does not tell the size of ${key}`);
}

type Wanted = GetOptions & { key: string; head: ObjectHead; from: number; end: number };

/** The bytes, over as many connections as it takes; always of one version of the object. */
async function* readOn(
  connection: Connection,
  wanted: Wanted,
  first: GetObjectCommandOutput,
): AsyncGenerator<Buffer> {
  const { key, head, end, versionId, signal } = wanted;
  const { timing } = connection;
  let position = wanted.from;
  let answer: GetObjectCommandOutput | undefined = first;
  let [failed, failedAt] = [0, position];
  while (position < end) {
    try {
      answer ??= await request(connection, key, {
        from: position,
        to: end - 1,
        versionId,
        etag: head.etag,
        signal,
      });
      for await (const chunk of withinTime(bodyOf(answer), timing, signal)) {
        if (position + chunk.length > end)
          throw new ObjectStoreError("malformed", `the store sent more than ${end} bytes of ${key}`);
        position += chunk.length;
        yield chunk;
      }
      if (position < end)
        throw new ObjectStoreError("unavailable", `the connection ended at byte ${position}`);
    } catch (error) {
      signal?.throwIfAborted();
      const failure = isNoKey(error) ? gone(key) : connection.explain("get", error);
      if (failure.problem === "conflict") throw gone(key);
      failed = position - failedAt >= progressBytes ? 1 : failed + 1;
      failedAt = position;
      const { retryAfterMs } = failure;
      const pause = pauseAfter(failed, { retryAfterMs, spread: Math.random(), timing });
      if (failure.problem !== "unavailable" || pause === undefined) throw failure;
      await sleep(pause, signal ?? new AbortController().signal);
    } finally {
      if (answer) destroy(answer);
      answer = undefined;
    }
  }
}

function gone(key: string): ObjectStoreError {
  return new ObjectStoreError("changed", `${key} was replaced or deleted while it was read`);
}

const bodyOf = ({ Body }: GetObjectCommandOutput) => (Body ?? []) as AsyncIterable<Buffer>;

function destroy({ Body }: GetObjectCommandOutput): void {
  (Body as { destroy?: () => void } | undefined)?.destroy?.();
}
