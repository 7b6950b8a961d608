import type { FirstWords } from "./words.ts";

/** A refusal by the service, or one part of an answer that was refused. */
export type Fault = { code: string; message: string; requestId?: string | undefined };

/** What a refusal means to a person: words by its code, else what the service said. */
export function faultWords(words: FirstWords, fault: Fault): string {
  const known: Readonly<Record<string, string>> = words.faults;
  return known[fault.code] ?? (fault.message || words.faults.unknown);
}
