// Words of the pages of players who were on servers.

import { use } from "react";
import type { KnownPlayerWords } from "./en/known-players.ts";
import { createLoader } from "./lazy-words.ts";
import { useLanguage } from "./words.ts";

const load = createLoader<KnownPlayerWords>({
  en: async () => (await import("./en/known-players.ts")).knownPlayers,
  "zh-CN": async () => (await import("./zh/known-players.ts")).knownPlayers,
});

/** Suspends until the catalogue of the person's language is there. */
export function useKnownPlayerWords(): KnownPlayerWords {
  return use(load(useLanguage().language));
}
