import { RconError } from "./errors.ts";
import { requestBodyBytes } from "./packet.ts";

/**
 * Refuses text that RCON can't carry as one command: line breaks and NUL (`protocol`), more than 1446 bytes of
 * UTF-8 (`too_long`). Use it on input before a connection is made (docs/reference/settings.md, docs/reference/console.md#command).
 */
export function assertCommand(text: string): void {
  if (/[\0\r\n]/.test(text)) {
    throw new RconError("protocol", "A command is one line without line breaks or NUL characters.");
  }
  const bytes = Buffer.byteLength(text, "utf8");
  if (bytes > requestBodyBytes) {
    throw new RconError(
      "too_long",
      `The command has ${bytes} bytes; RCON carries at most ${requestBodyBytes}.`,
    );
  }
}
