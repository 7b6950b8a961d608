/** Text of files, which may come from players, in which nothing acts on a terminal. */
export function printable(text: string): string {
  return text.replaceAll("\t", "    ").replace(/\p{Cc}/gu, "\u{fffd}");
}
