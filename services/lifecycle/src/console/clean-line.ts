// Makes any bytes that a game server prints safe to show. Pure.

const decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });

// Escape sequences: CSI, OSC and other strings up to their end, two-character ones. Each part is bounded by what it may
// hold, so that no line takes long.
const escapes =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d\u009e\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|\u001b[ -/]*[0-~]?/g;

// What is left of control characters, line separators, and characters that reorder or hide what is around them.
const unsafe = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/gu;

const plain = /^[\t -~]*$/;

/** One line of text: no escape sequence, no control character but the tab, no line break; broken bytes are U+FFFD. */
export function cleanLine(bytes: Uint8Array, most: number): string {
  const text = decoder.decode(bytes);
  const clean = plain.test(text)
    ? text
    : text.replace(escapes, "").replace(unsafe, (found) => (found === "\t" ? found : ""));
  return clean.length <= most ? clean : `${clean.slice(0, most).replace(/[\ud800-\udbff]$/, "")}…`;
}
