import type { ApiError } from "../api/error.ts";
import type { Words } from "./words.ts";

/** What a refusal means to a person: words by its code, else what the service said. */
export function faultWords(words: Words, error: ApiError): string {
  const known: Readonly<Record<string, string>> = words.faults;
  return known[error.code] ?? (error.message || words.faults.unknown);
}
