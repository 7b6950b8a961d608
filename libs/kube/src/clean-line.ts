// Makes the output of a container safe to display. Pure.

const decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });

// Escape sequences: CSI, OSC and other strings up to their end, and two-character ones. Each part excludes its terminator,
// so matching takes linear time.
const escapes =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are removed
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d\u009e\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|\u001b[ -/]*[0-~]?/g;

// Other control characters, line separators, and characters that reorder or hide surrounding text.
const unsafe = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/gu;

const plain = /^[\t -~]*$/;

/** One line of text: no escape sequence, no control character but the tab, no line break; broken bytes are U+FFFD. */
export function cleanLine(bytes: Uint8Array, maxCharacters: number): string {
  const text = decoder.decode(bytes);
  const clean = plain.test(text)
    ? text
    : text.replace(escapes, "").replace(unsafe, (found) => (found === "\t" ? found : ""));
  return clean.length <= maxCharacters
    ? clean
    : `${clean.slice(0, maxCharacters).replace(/[\ud800-\udbff]$/, "")}…`;
}
