import type { Socket } from "node:net";
import { MinecraftFault } from "./fault.ts";

/** What stands at the start of a connection, before the framing of the game. */
type Preamble<T> = {
  readonly timeoutMs: number;
  /** For the words of a fault. */
  readonly what: string;
  /** Undefined while more bytes are needed. `isQuiet`: nothing more came for `quietMs`. Throws when it is none. */
  readonly decode: (bytes: Buffer, isQuiet: boolean) => T | undefined;
  readonly quietMs?: number;
};

/** Reads until `decode` answers, and leaves what follows its `length` bytes in the socket. */
export function readPreamble<T extends { readonly length: number }>(
  socket: Socket,
  head: Preamble<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let bytes: Buffer = Buffer.alloc(0);
    let quiet: NodeJS.Timeout | undefined;
    const settle = (act: () => void) => {
      clearTimeout(timer);
      clearTimeout(quiet);
      socket.off("data", onData);
      socket.off("close", onClose);
      socket.off("error", onClose);
      socket.pause();
      act();
    };
    const fail = (error: unknown) => settle(() => reject(error));
    const onClose = () => fail(new MinecraftFault("closed", `the connection closed before its ${head.what}`));
    const timer = setTimeout(
      () => fail(new MinecraftFault("timeout", `the ${head.what} did not come`)),
      head.timeoutMs,
    );
    const look = (isQuiet: boolean) => {
      try {
        const found = head.decode(bytes, isQuiet);
        if (!found) return;
        const rest = bytes.subarray(found.length);
        settle(() => {
          if (rest.length > 0) socket.unshift(rest);
          resolve(found);
        });
      } catch (error) {
        fail(error);
      }
    };
    const onData = (chunk: Buffer) => {
      bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
      clearTimeout(quiet);
      if (head.quietMs !== undefined) quiet = setTimeout(look, head.quietMs, true);
      look(false);
    };
    socket.on("data", onData);
    socket.once("close", onClose);
    socket.once("error", onClose);
    socket.resume();
  });
}
