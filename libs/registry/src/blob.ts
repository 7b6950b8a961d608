import { createHash } from "node:crypto";
import type { Readable } from "node:stream";
import { malformed } from "./error.ts";
import { type Answer, discard, lost, pathOnRegistry, type Transport } from "./transport.ts";

export type BlobRef = { digest: string; size: number };

/** A blob to be stored; `open` is called once per attempt. */
export type BlobSource = BlobRef & {
  open: () => Readable;
  /** Repository of the same registry that may have it: then no byte of it is sent. */
  mountFrom?: string | undefined;
};

export function digestOf(bytes: Buffer | string): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

/** Passes the bytes on; throws in the end when they are not the blob, and at once when they are too many. */
export async function* verified(
  answer: Answer,
  { digest, size }: BlobRef,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer> {
  const hash = createHash("sha256");
  let bytes = 0;
  const { body } = answer;
  try {
    for await (const chunk of guarded(body, signal)) {
      bytes += chunk.length;
      if (bytes > size) throw malformed(`the registry sent more than the ${size} bytes of ${digest}`);
      hash.update(chunk);
      yield chunk;
    }
  } finally {
    body.destroy();
  }
  if (bytes < size) throw malformed(`the registry sent ${bytes} of the ${size} bytes of ${digest}`);
  const got = `sha256:${hash.digest("hex")}`;
  if (got !== digest) throw malformed(`the registry sent ${got} for ${digest}`);
}

async function* guarded(
  body: AsyncIterable<Buffer>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer> {
  try {
    yield* body;
  } catch (cause) {
    throw lost("broke off a blob", cause, signal);
  }
}

/** Sends a blob in one request, unless it can be mounted; true when it was sent. */
export async function upload(
  transport: Transport,
  path: string,
  { digest, size, open, mountFrom, signal }: BlobSource & { signal: AbortSignal | undefined },
): Promise<boolean> {
  const mount = mountFrom === undefined ? "" : `?${new URLSearchParams({ mount: digest, from: mountFrom })}`;
  const started = await transport.send(
    { method: "POST", path: `/v2/${path}/blobs/uploads/${mount}`, signal },
    mount === "" ? [202] : [201, 202],
  );
  await discard(started);
  if (started.status === 201) return assertStored(started, digest, false);
  const place = pathOnRegistry(started.headers["location"], transport.origin);
  const body = open();
  try {
    const headers = { "content-type": "application/octet-stream", "content-length": String(size) };
    const to = `${place}${place.includes("?") ? "&" : "?"}digest=${encodeURIComponent(digest)}`;
    const stored = await transport.send(
      { method: "PUT", path: to, headers, body, bytes: size, signal },
      [201],
    );
    await discard(stored);
    return assertStored(stored, digest, true);
  } finally {
    body.destroy();
  }
}

function assertStored({ headers }: Answer, digest: string, isSent: boolean): boolean {
  const named = headers["docker-content-digest"];
  if (named !== undefined && named !== digest) throw malformed(`the registry stored ${named} for ${digest}`);
  return isSent;
}
