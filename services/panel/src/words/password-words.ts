// Words of signing in with a password.

import { use } from "react";
import type { PasswordWords } from "./en/password.ts";
import { createLoader } from "./lazy-words.ts";
import { useLanguage } from "./words.ts";

const load = createLoader<PasswordWords>({
  en: async () => (await import("./en/password.ts")).password,
  "zh-CN": async () => (await import("./zh/password.ts")).password,
});

/** Suspends until the catalogue of the person's language is there. */
export function usePasswordWords(): PasswordWords {
  return use(load(useLanguage().language));
}
