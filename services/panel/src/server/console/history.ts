// Commands that were sent before, newest last; the arrow keys go through them.

const kept = 50;

type CommandHistory = { entries: readonly string[]; at: number; draft: string };

export const emptyHistory: CommandHistory = { entries: [], at: 0, draft: "" };

/** After a command was sent. */
export function remember({ entries }: CommandHistory, command: string): CommandHistory {
  const next = [...entries.filter((entry) => entry !== command), command].slice(-kept);
  return { entries: next, at: next.length, draft: "" };
}

/** One step up (-1) or down (1); returns the text to show. What was being typed is the last step down. */
export function step(
  history: CommandHistory,
  by: -1 | 1,
  typed: string,
): { history: CommandHistory; text: string } {
  const { entries } = history;
  const draft = history.at === entries.length ? typed : history.draft;
  const at = Math.min(entries.length, Math.max(0, history.at + by));
  return { history: { entries, at, draft }, text: entries[at] ?? draft };
}
