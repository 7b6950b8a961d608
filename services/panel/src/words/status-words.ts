// Words of status pages, and of the settings that show them.

import { use } from "react";
import type { StatusWords } from "./en/status.ts";
import { createLoader } from "./lazy-words.ts";
import { useLanguage } from "./words.ts";

const load = createLoader<StatusWords>({
  en: async () => (await import("./en/status.ts")).status,
  "zh-CN": async () => (await import("./zh/status.ts")).status,
});

/** Suspends until the catalogue of the person's language is there. */
export function useStatusWords(): StatusWords {
  return use(load(useLanguage().language));
}
