// Suggested commands, complete, so that they can be pasted.

/** `npm run svc -- status --data '/my data'`. `data`: the folder, unless it is the default one. */
export function commandHint(script: "svc" | "up" | "down", words = "", data?: string): string {
  const args = [words, data === undefined ? "" : `--data ${shellWord(data)}`].filter((part) => part !== "");
  return [`npm run ${script}`, ...(args.length > 0 ? ["--", ...args] : [])].join(" ");
}

/** A text as one word of a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
