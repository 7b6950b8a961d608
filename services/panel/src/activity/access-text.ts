// What an entry of shared access gave or took, as texts (docs/reference/audit.md#access).

import { formatDate } from "../words/format.ts";
import type { Language } from "../words/language.ts";
import type { Words } from "../words/words.ts";
import type { Entry } from "./entry.ts";

type Reader = { words: Pick<Words, "activity" | "sharing">; language: Language };

/** None for an entry of something else. */
export function accessTexts(
  { access }: Pick<Entry, "access">,
  { words: { activity, sharing }, language }: Reader,
): string[] {
  if (!access) return [];
  const rights: Readonly<Record<string, string>> = sharing.rightWords;
  const limitWords: Readonly<Record<string, string>> = sharing.limits;
  const named = (list: readonly string[]) => list.map((right) => rights[right] ?? right).join(", ");
  const dateOf = (at: string | undefined) =>
    at === undefined ? undefined : formatDate(Date.parse(at), language);
  const changed = (now: string, was: string | undefined) =>
    was === undefined ? now : activity.before(now, was);
  const { account, given, taken, limits, ends_at } = access;
  return [
    ...(account === undefined ? [] : [activity.accessOf(account)]),
    ...(given.length === 0 ? [] : [activity.given(named(given))]),
    ...(taken.length === 0 ? [] : [activity.taken(named(taken))]),
    ...limits.map(
      ({ limit, was, now }) =>
        `${limitWords[limit] ?? limit} ${changed(now?.join(", ") ?? activity.unlimited, was?.join(", "))}`,
    ),
    ...(ends_at
      ? [`${sharing.ends} ${changed(dateOf(ends_at.now) ?? activity.endless, dateOf(ends_at.was))}`]
      : []),
  ];
}
