// Words of searching files, packing them, and their earlier versions.

import { use } from "react";
import type { FileWords } from "./en/file-work.ts";
import { createLoader } from "./lazy-words.ts";
import { useLanguage } from "./words.ts";

const load = createLoader<FileWords>({
  en: async () => (await import("./en/file-work.ts")).fileWork,
  "zh-CN": async () => (await import("./zh/file-work.ts")).fileWork,
});

/** Suspends until the catalogue of the person's language is there. */
export function useFileWords(): FileWords {
  return use(load(useLanguage().language));
}
