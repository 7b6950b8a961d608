// Words of signing in with an OpenID provider.

import { use } from "react";
import type { ProviderWords } from "./en/provider.ts";
import { createLoader } from "./lazy-words.ts";
import { useLanguage } from "./words.ts";

const load = createLoader<ProviderWords>({
  en: async () => (await import("./en/provider.ts")).provider,
  "zh-CN": async () => (await import("./zh/provider.ts")).provider,
});

/** Suspends until the catalogue of the person's language is there. */
export function useProviderWords(): ProviderWords {
  return use(load(useLanguage().language));
}
