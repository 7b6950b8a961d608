// Words of the pages about packs, reviews and builds. They are loaded with the first such page: the catalogue that is
// loaded at sign-in stays small.

import { use } from "react";
import type { packs } from "./en/packs.ts";
import type { Language } from "./language.ts";
import { useLanguage } from "./words.ts";

export type PackWords = typeof packs;

const catalogues: Record<Language, () => Promise<PackWords>> = {
  en: async () => (await import("./en/packs.ts")).packs,
  "zh-CN": async () => (await import("./zh/packs.ts")).packs,
};

const loaded = new Map<Language, Promise<PackWords>>();

/** Suspends until the catalogue of the person's language is there. */
export function usePackWords(): PackWords {
  return use(load(useLanguage().language));
}

function load(language: Language): Promise<PackWords> {
  const known = loaded.get(language);
  if (known !== undefined) return known;
  const loading = catalogues[language]();
  // The next try loads it again.
  loading.catch(() => loaded.delete(language));
  loaded.set(language, loading);
  return loading;
}
