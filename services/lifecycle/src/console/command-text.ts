// What may be sent as one command (docs/reference/console.md#command). Pure.

type CommandText = { command: string } | { problem: string };

const maxCharacters = 1_024;
/** Payload of one RCON packet. */
const maxBytes = 1_446;

// Everything that a program on the way could take for the end of a line: control characters (C0, DEL, C1) and Unicode's
// separators.
const breaks = /[\p{Cc}\u2028\u2029]/u;

/** The line that is sent, without a leading slash and surrounding spaces. */
export function readCommand(text: string): CommandText {
  if (breaks.test(text)) return { problem: "The command must be one line without control characters." };
  if (!text.isWellFormed()) return { problem: "The command must be valid Unicode text." };
  const command = text.trim().replace(/^\//, "").trim();
  if (command === "") return { problem: "The command is empty." };
  if ([...command].length > maxCharacters)
    return { problem: `The command is longer than ${maxCharacters} characters.` };
  if (Buffer.byteLength(command) > maxBytes)
    return { problem: `The command is longer than ${maxBytes} bytes.` };
  return { command };
}
