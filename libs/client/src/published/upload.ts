// A file into a stopped server's world, whatever its size (docs/reference/uploads.md#session).

import { uploads as contracts } from "@svc/proto";
import type { CallSettings, Client } from "./client.ts";
import type { files, uploads } from "./operations.ts";
import { pause } from "./retry.ts";

export type FileToUpload = {
  /** Name of the server. */
  name: string;
  /** In the world, for example `plugins/map.jar`; its folder must exist. */
  path: string;
  content: Blob | Uint8Array<ArrayBuffer> | string;
  /** Whether a file of that path is replaced; otherwise it is refused with `file_exists`. Default false. */
  overwrite?: boolean;
};

type Uploader = Client<{ uploads: typeof uploads; files: typeof files }>;
type Settings = Pick<CallSettings, "signal">;

const pollMs = 500;

/**
 * Uploads a file, in parts when it is larger than 64 MiB; it appears complete or not at all. Answers its size in bytes. Throws
 * `ApiError`; in browsers the page must be a secure context, whose `crypto.subtle` makes the digests.
 */
export async function uploadFile(
  client: Uploader,
  file: FileToUpload,
  settings: Settings = {},
): Promise<{ path: string; size: number }> {
  const blob = new Blob([file.content]);
  if (blob.size <= contracts.singleUploadBytes) await sendWhole(client, { ...file, blob }, settings);
  else await sendParts(client, { ...file, blob }, settings);
  return { path: file.path, size: blob.size };
}

type Sending = FileToUpload & { blob: Blob };

async function sendWhole(client: Uploader, sending: Sending, settings: Settings): Promise<void> {
  const { name, path, blob, overwrite = false } = sending;
  const bytes = new Uint8Array(await blob.arrayBuffer());
  const head = { content_digest: await digestOf(bytes), content_length: bytes.length };
  await client.uploads.upload(
    { name, path, overwrite: overwrite ? "true" : "false", ...head },
    bytes,
    settings,
  );
}

async function sendParts(client: Uploader, sending: Sending, settings: Settings): Promise<void> {
  const { name, path, blob, overwrite = false } = sending;
  const { id, part_max_bytes: most } = await client.uploads.begin({ name, path, size: blob.size }, settings);
  try {
    for (let offset = 0; offset < blob.size; offset += most) {
      const bytes = new Uint8Array(await blob.slice(offset, offset + most).arrayBuffer());
      const head = { content_digest: await digestOf(bytes), content_length: bytes.length };
      await client.uploads.putPart({ name, id, offset, ...head }, bytes, settings);
    }
    const { op } = await client.uploads.commit({ name, id, overwrite }, settings);
    await awaitOperation(client, { name, id: op.id }, settings);
  } catch (error) {
    // Space is reserved until then.
    await client.uploads.cancel({ name, id }).catch(() => undefined);
    throw error;
  }
}

async function awaitOperation(
  client: Uploader,
  { name, id }: { name: string; id: string },
  settings: Settings,
): Promise<void> {
  const signal = settings.signal ?? new AbortController().signal;
  for (;;) {
    const { ops } = await client.files.listOperations({ name }, settings);
    const op = ops.find((one) => one.id === id);
    if (op?.state === "succeeded") return;
    if (op?.state === "failed") throw new Error(op.error?.message ?? "the upload failed; try again");
    await pause(pollMs, signal);
  }
}

async function digestOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return `sha-256=:${btoa(String.fromCharCode(...digest))}:`;
}
