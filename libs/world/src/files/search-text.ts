// What a search compares (docs/reference/files.md#search): literal text, by the whole name or line by line. Pure, and linear in
// the length of what is searched.

export type SearchText = {
  /** One line, not empty. */
  text: string;
  matchCase: boolean;
};

type FoundLine = { line: number; text: string };

/** Longest line that is shown whole; of a longer one this much is. */
const shownLength = 200;
/** How much of it is shown before the text. */
const leadLength = 60;
const binaryHeadBytes = 8_192;

/** Whether a name, or a whole text, has the text that is searched. */
export function hasText(where: string, { text, matchCase }: SearchText): boolean {
  return matchCase ? where.includes(text) : where.toLowerCase().includes(text.toLowerCase());
}

/** The first lines that have the text, at most `most`; `isMore` when further ones do. */
export function findLines(
  content: string,
  wanted: SearchText,
  most: number,
): { lines: FoundLine[]; isMore: boolean } {
  const lines: FoundLine[] = [];
  if (!hasText(content, wanted)) return { lines, isMore: false };
  const text = folded(wanted.text, wanted);
  for (let start = 0, line = 1; start <= content.length; line += 1) {
    const next = content.indexOf("\n", start);
    const end = next < 0 ? content.length : next;
    const whole = content.slice(start, content[end - 1] === "\r" ? end - 1 : end);
    const at = folded(whole, wanted).indexOf(text);
    if (at >= 0 && lines.length === most) return { lines, isMore: true };
    if (at >= 0) lines.push({ line, text: shortened(whole, positionOf(whole, at, wanted)) });
    start = end + 1;
  }
  return { lines, isMore: false };
}

/** As Git decides it: whether a NUL is in the first bytes of a file. */
export function isBinary(head: Uint8Array): boolean {
  return head.subarray(0, binaryHeadBytes).includes(0);
}

function folded(text: string, { matchCase }: SearchText): string {
  return matchCase ? text : text.toLowerCase();
}

/** Where a position in the folded line is in the line: a few letters become longer in lower case. */
function positionOf(line: string, at: number, { matchCase }: SearchText): number {
  if (matchCase || line.toLowerCase().length === line.length) return at;
  let position = 0;
  for (let length = 0; length < at; ) {
    const letter = String.fromCodePoint(line.codePointAt(position) ?? 0);
    length += letter.toLowerCase().length;
    position += letter.length;
  }
  return position;
}

function shortened(line: string, at: number): string {
  if (line.length <= shownLength) return line.toWellFormed();
  const start = Math.max(0, Math.min(at - leadLength, line.length - shownLength));
  const end = start + shownLength;
  // A character of two units that is cut in half becomes the replacement character.
  const shown = line.slice(start, end).toWellFormed();
  return `${start > 0 ? "…" : ""}${shown}${end < line.length ? "…" : ""}`;
}
