import type { FileHandle } from "node:fs/promises";

/** Appends all bytes, however many writes the kernel makes of it. */
export async function writeAll(file: FileHandle, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten;
}
