// Words of the pages about the platform itself: its health and its updates.

import { use } from "react";
import type { HealthWords } from "./en/health.ts";
import { createLoader } from "./lazy-words.ts";
import { useLanguage } from "./words.ts";

export type { HealthWords };

const load = createLoader<HealthWords>({
  en: async () => (await import("./en/health.ts")).health,
  "zh-CN": async () => (await import("./zh/health.ts")).health,
});

/** Suspends until the catalogue of the person's language is there. */
export function useHealthWords(): HealthWords {
  return use(load(useLanguage().language));
}
