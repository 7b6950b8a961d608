// The catalogue of the chosen language. English is the type of every other one, so a missing key does not compile.

import { createContext, useContext } from "react";
import type { en } from "./en/index.ts";
import type { Language } from "./language.ts";

export type Words = typeof en;

export const WordsContext = createContext<Words | undefined>(undefined);

/** All words of the panel, by area. */
export function useWords(): Words {
  const words = useContext(WordsContext);
  if (!words) throw new Error("words are used outside of their provider");
  return words;
}

type LanguageChoice = { language: Language; choose: (language: Language) => void };
export const LanguageContext = createContext<LanguageChoice | undefined>(undefined);

/** The language of the page, and how to choose another one. */
export function useLanguage(): LanguageChoice {
  const choice = useContext(LanguageContext);
  if (!choice) throw new Error("the language is used outside of its provider");
  return choice;
}
