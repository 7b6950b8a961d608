// Words of the page of groups.

import { use } from "react";
import type { GroupWords } from "./en/groups.ts";
import { createLoader } from "./lazy-words.ts";
import { useLanguage } from "./words.ts";

const load = createLoader<GroupWords>({
  en: async () => (await import("./en/groups.ts")).groups,
  "zh-CN": async () => (await import("./zh/groups.ts")).groups,
});

/** Suspends until the catalogue of the person's language is there. */
export function useGroupWords(): GroupWords {
  return use(load(useLanguage().language));
}
