import type { FirstWords } from "./words.ts";

/** What a refusal means to a person: words by its code, else what the service said. */
export function faultWords(words: FirstWords, fault: { code: string; message: string }): string {
  const known: Readonly<Record<string, string>> = words.faults;
  return known[fault.code] ?? (fault.message || words.faults.unknown);
}
