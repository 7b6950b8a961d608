import type { OutgoingMessage } from "node:http";

/** Writes a chunk and waits until it is on its way; calls `onStall`, which must end the connection, when that takes too long. */
export async function written(
  outgoing: OutgoingMessage,
  chunk: Uint8Array,
  { stallMs, onStall }: { stallMs: number; onStall: () => void },
): Promise<void> {
  const timer = setTimeout(onStall, stallMs);
  try {
    await new Promise<void>((settle, fail) => {
      outgoing.write(chunk, (error) => (error ? fail(error) : settle()));
    });
  } finally {
    clearTimeout(timer);
  }
}
