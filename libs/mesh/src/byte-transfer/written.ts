import type { OutgoingMessage } from "node:http";

/** Writes a chunk and resolves when it is on its way; rejects when the connection breaks or is gone. */
export function writeChunk(outgoing: OutgoingMessage, chunk: Uint8Array): Promise<void> {
  return new Promise((settle, fail) => {
    // Between the end of a connection and its `close`, Node drops what is written and never calls back.
    const onClose = () => fail(new Error("the connection closed"));
    outgoing.once("close", onClose);
    outgoing.write(chunk, (error) => {
      outgoing.off("close", onClose);
      if (error) fail(error);
      else settle();
    });
  });
}

/** As `writeChunk`; calls `onStall`, which must end the connection, when that takes too long. */
export async function written(
  outgoing: OutgoingMessage,
  chunk: Uint8Array,
  { stallMs, onStall }: { stallMs: number; onStall: () => void },
): Promise<void> {
  const timer = setTimeout(onStall, stallMs);
  try {
    await writeChunk(outgoing, chunk);
  } finally {
    clearTimeout(timer);
  }
}
