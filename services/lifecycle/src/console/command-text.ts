// What may be sent as one command (architecture.md 6.16). Pure.

export type CommandText = { command: string } | { problem: string };

const mostCharacters = 1_024;
/** What one RCON packet carries. */
const mostBytes = 1_446;

// Everything that any program on the way could take for the end of a line: control characters (C0, DEL, C1) and
// Unicode's own separators.
const breaks = /[\p{Cc}\u2028\u2029]/u;

/** The one line that is sent, without a leading slash and spaces around it. */
export function readCommand(text: string): CommandText {
  if (breaks.test(text)) return { problem: "The command must be one line without control characters." };
  if (!text.isWellFormed()) return { problem: "The command must be valid Unicode text." };
  const command = text.trim().replace(/^\//, "").trim();
  if (command === "") return { problem: "The command is empty." };
  if ([...command].length > mostCharacters)
    return { problem: `The command is longer than ${mostCharacters} characters.` };
  if (Buffer.byteLength(command) > mostBytes)
    return { problem: `The command is longer than ${mostBytes} bytes.` };
  return { command };
}
