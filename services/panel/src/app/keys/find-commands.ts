// What the palette offers for what was typed.

export type Command = {
  id: string;
  group: "server" | "pages" | "servers" | "help";
  word: string;
  /** A path of the panel; the one without opens the help. */
  to?: string;
  /** Found by these words too. */
  also?: string;
};

const shownOfGroup = 8;

/** Commands with all words of the query, those that begin with it first; some of each group. */
export function findCommands(commands: readonly Command[], query: string): Command[] {
  const wanted = query.trim().toLowerCase();
  const parts = wanted.split(/\s+/).filter(Boolean);
  const found = commands.filter(({ word, also = "" }) => {
    const text = `${word} ${also}`.toLowerCase();
    return parts.every((part) => text.includes(part));
  });
  const begins = ({ word }: Command) => word.toLowerCase().startsWith(wanted);
  const ordered = [...found.filter(begins), ...found.filter((command) => !begins(command))];
  const shown = new Map<string, number>();
  return ordered.filter(({ group }) => {
    const count = (shown.get(group) ?? 0) + 1;
    shown.set(group, count);
    return count <= shownOfGroup;
  });
}
