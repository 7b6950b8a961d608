// Words of the pages about packs, reviews and builds.

import { use } from "react";
import type { PackWords } from "./en/packs.ts";
import { createLoader } from "./lazy-words.ts";
import { useLanguage } from "./words.ts";

export type { PackWords };

const load = createLoader<PackWords>({
  en: async () => (await import("./en/packs.ts")).packs,
  "zh-CN": async () => (await import("./zh/packs.ts")).packs,
});

/** Suspends until the catalogue of the person's language is there. */
export function usePackWords(): PackWords {
  return use(load(useLanguage().language));
}
