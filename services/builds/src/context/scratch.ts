// A file without a name: nothing of it stays when this process dies.

import { randomBytes } from "node:crypto";
import { type FileHandle, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Fault } from "@svc/proto";
import { createFileWriter } from "@svc/world";

export async function openScratch(folder: string): Promise<FileHandle> {
  const place = join(folder, `.svc-context-${randomBytes(8).toString("hex")}`);
  const file = await open(place, "wx+", 0o600);
  await rm(place);
  return file;
}

/** Gives the bytes as a file for as long as `work` runs; each chunk must keep its bytes. Throws `uploads_full`. */
export async function withScratchFile<T>(
  bytes: AsyncIterable<Buffer>,
  work: (file: FileHandle) => Promise<T>,
): Promise<T> {
  const file = await openScratch(tmpdir()).catch(asFull);
  try {
    const writer = createFileWriter(file);
    for await (const chunk of bytes) if (!writer.write(chunk)) await writer.flush().catch(asFull);
    await writer.finish().catch(asFull);
    return await work(file);
  } finally {
    await file.close();
  }
}

export function asFull(error: unknown): never {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOSPC" || code === "EDQUOT") throw new Fault("uploads_full", { cause: error });
  throw error;
}
