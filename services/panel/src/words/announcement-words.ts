// Words of the page of announcements.

import { use } from "react";
import type { AnnouncementWords } from "./en/announcements.ts";
import { createLoader } from "./lazy-words.ts";
import { useLanguage } from "./words.ts";

const load = createLoader<AnnouncementWords>({
  en: async () => (await import("./en/announcements.ts")).announcements,
  "zh-CN": async () => (await import("./zh/announcements.ts")).announcements,
});

/** Suspends until the catalogue of the person's language is there. */
export function useAnnouncementWords(): AnnouncementWords {
  return use(load(useLanguage().language));
}
