// Words of templates, and of making a server of one.

import { use } from "react";
import type { TemplateWords } from "./en/templates.ts";
import { createLoader } from "./lazy-words.ts";
import { useLanguage } from "./words.ts";

const load = createLoader<TemplateWords>({
  en: async () => (await import("./en/templates.ts")).templates,
  "zh-CN": async () => (await import("./zh/templates.ts")).templates,
});

/** Suspends until the catalogue of the person's language is there. */
export function useTemplateWords(): TemplateWords {
  return use(load(useLanguage().language));
}
