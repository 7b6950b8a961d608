// Lines of a Java properties file, as java.util.Properties reads them.

/** The text with a key set to a value once, at its first place; all else stays as it is, byte for byte. */
export function withProperty(text: string, key: string, value: string): string {
  const lines = logicalLines(text);
  const mine = lines.filter((line) => keyOf(line) === key);
  const wanted = `${key}=${value}`;
  if (mine.length === 1 && mine[0]?.replace(/\r?\n$|\r$/, "") === wanted) return text;
  let isSet = false;
  const kept = lines.flatMap((line) => {
    if (keyOf(line) !== key) return [line];
    if (isSet) return [];
    isSet = true;
    return [`${wanted}\n`];
  });
  const joined = kept.join("");
  if (isSet) return joined;
  // A last line that ends in a backslash would swallow ours; an empty line ends it.
  const gap = joined === "" || /[\r\n]$/.test(joined) ? "" : "\n";
  const isOpen = kept.length > 0 && isContinued(kept.at(-1) ?? "");
  return `${joined}${gap}${isOpen ? "\n" : ""}${wanted}\n`;
}

/** Natural lines put together where one ends in a backslash; comments never go on. */
function logicalLines(text: string): string[] {
  const natural = text.match(/[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$/g) ?? [];
  const lines: string[][] = [];
  let isOpen = false;
  for (const line of natural) {
    if (isOpen) lines.at(-1)?.push(line);
    else lines.push([line]);
    isOpen = !isComment(lines.at(-1)?.[0] ?? "") && endsInBackslash(line);
  }
  return lines.map((parts) => parts.join(""));
}

const isContinued = (line: string): boolean => !isComment(line) && endsInBackslash(line);

const isComment = (line: string): boolean => /^[ \t\f]*[#!]/.test(line);

/** An odd number of them: the last one is not an escaped one. */
function endsInBackslash(line: string): boolean {
  const end = line.endsWith("\r\n") ? line.length - 2 : line.length - (/[\r\n]$/.test(line) ? 1 : 0);
  let start = end;
  while (line[start - 1] === "\\") start -= 1;
  return (end - start) % 2 === 1;
}

/** The key of a logical line with its escapes undone; undefined for a comment or an empty line. */
function keyOf(line: string): string | undefined {
  const whole = line.replace(/\\(?:\r\n|\r|\n)[ \t\f]*/g, "").replace(/^[ \t\f]+/, "");
  if (/^(?:[#!]|[\r\n]|$)/.test(whole)) return undefined;
  const raw = /^(?:\\[\s\S]|[^\\=: \t\f\r\n])*/.exec(whole)?.[0] ?? "";
  return raw.replace(/\\(?:u([0-9a-fA-F]{4})|([\s\S]))/g, (_all, hex: string | undefined, one: string) =>
    hex ? String.fromCharCode(Number.parseInt(hex, 16)) : one,
  );
}
