import type { Words } from "../../words/words.ts";

/** What an action is called; one that nobody described keeps its code. */
export function actionWords({ audit }: Words, action: string): string {
  return wordOf(audit.actions, action);
}

/** The word of a code that comes from outside, or the code itself. */
export function wordOf(words: Readonly<Record<string, string>>, code: string): string {
  return (Object.hasOwn(words, code) && words[code]) || code;
}
