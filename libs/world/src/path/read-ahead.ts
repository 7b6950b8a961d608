import type { ArchiveFile } from "./archive-file.ts";

const chunkBytes = 1 << 20;

/**
 * The first `length` bytes of a file, in chunks of 1 MiB. The next chunk is read while one is used; its memory is used
 * again for the one after it. Throws when the file is shorter. Keep the file open until the end.
 */
export async function* readAhead(file: Pick<ArchiveFile, "read">, length: number): AsyncGenerator<Buffer> {
  const bytes = Math.min(chunkBytes, length);
  let [current, next] = [Buffer.allocUnsafeSlow(bytes), Buffer.allocUnsafeSlow(bytes)];
  const read = (into: Buffer, at: number) => {
    const reading = file.read(into, 0, Math.min(bytes, length - at), at);
    reading.catch(() => {});
    return reading;
  };
  let reading = read(current, 0);
  try {
    for (let at = 0; at < length; [current, next] = [next, current]) {
      const { bytesRead } = await reading;
      if (bytesRead === 0) throw new Error(`the file ends after ${at} of ${length} bytes`);
      at += bytesRead;
      if (at < length) reading = read(next, at);
      yield current.subarray(0, bytesRead);
    }
  } finally {
    await reading.catch(() => {});
  }
}
