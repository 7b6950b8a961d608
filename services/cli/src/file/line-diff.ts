// What differs between two texts, line by line, in linear time: what lies between their common ends. Pure.

/** Lines that begin with - and +, each with its number; empty when the texts are the same. */
export function lineDiff(before: string, after: string): string[] {
  const [old, now] = [before.split("\n"), after.split("\n")];
  const most = Math.min(old.length, now.length);
  let start = 0;
  while (start < most && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < most - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end += 1;
  const marked = (lines: readonly string[], mark: string) =>
    lines.slice(start, lines.length - end).map((line, at) => `${mark}${start + at + 1}: ${line}`);
  return [...marked(old, "-"), ...marked(now, "+")];
}
