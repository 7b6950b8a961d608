// Words of the page about plugins and mods.

import { use } from "react";
import type { PluginWords } from "./en/plugins.ts";
import { createLoader } from "./lazy-words.ts";
import { useLanguage } from "./words.ts";

const load = createLoader<PluginWords>({
  en: async () => (await import("./en/plugins.ts")).plugins,
  "zh-CN": async () => (await import("./zh/plugins.ts")).plugins,
});

/** Suspends until the catalogue of the person's language is there. */
export function usePluginWords(): PluginWords {
  return use(load(useLanguage().language));
}
