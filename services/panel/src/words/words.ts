// The catalogue of the chosen language. What sign-in says is loaded first, the rest with the first page that says it (docs/reference/panel.md#budgets).

import { createContext, use, useContext } from "react";
import type { FirstWords } from "./en/first.ts";
import type { Words } from "./en/index.ts";
import type { Language } from "./language.ts";
import { createLoader } from "./lazy-words.ts";

export type { FirstWords, Words };

export const loadFirstWords = createLoader<FirstWords>({
  en: async () => (await import("./en/first.ts")).first,
  "zh-CN": async () => (await import("./zh/first.ts")).first,
});

export const loadWords = createLoader<Words>({
  en: async () => (await import("./en/index.ts")).en,
  "zh-CN": async () => (await import("./zh/index.ts")).zh,
});

export const FirstWordsContext = createContext<FirstWords | undefined>(undefined);

/** Words of sign-in and of what stands around and in every page. */
export function useFirstWords(): FirstWords {
  const words = useContext(FirstWordsContext);
  if (!words) throw new Error("words are used outside of their provider");
  return words;
}

/** All words of the panel, by area; suspends until they are there. */
export function useWords(): Words {
  return use(loadWords(useLanguage().language));
}

type LanguageChoice = { language: Language; choose: (language: Language) => void };
export const LanguageContext = createContext<LanguageChoice | undefined>(undefined);

/** The language of the page, and how to choose another one. */
export function useLanguage(): LanguageChoice {
  const choice = useContext(LanguageContext);
  if (!choice) throw new Error("the language is used outside of its provider");
  return choice;
}
