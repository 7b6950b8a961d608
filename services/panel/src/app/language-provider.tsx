import { type ReactNode, useEffect, useMemo, useState } from "react";
import { ComponentLanguage } from "../ui/component-language.tsx";
import { chooseLanguage, type Language, storedLanguage, storeLanguage } from "../words/language.ts";
import { LanguageContext, type Words, WordsContext } from "../words/words.ts";

const catalogues: Record<Language, () => Promise<Words>> = {
  en: async () => (await import("../words/en/index.ts")).en,
  "zh-CN": async () => (await import("../words/zh/index.ts")).zh,
};

/** Loads the catalogue of the person's language; nothing is drawn before it is there. */
export function LanguageProvider({ children }: { children: ReactNode }) {
  const [language, setLanguage] = useState(() => chooseLanguage(storedLanguage(), navigator.languages));
  const [words, setWords] = useState<Words>();
  useEffect(() => {
    let isCurrent = true;
    void catalogues[language]().then((loaded) => {
      if (!isCurrent) return;
      document.documentElement.lang = language;
      setWords(loaded);
    });
    return () => {
      isCurrent = false;
    };
  }, [language]);
  const choice = useMemo(
    () => ({
      language,
      choose: (next: Language) => {
        storeLanguage(next);
        setLanguage(next);
      },
    }),
    [language],
  );
  if (!words) return null;
  return (
    <LanguageContext value={choice}>
      <WordsContext value={words}>
        <ComponentLanguage language={language}>{children}</ComponentLanguage>
      </WordsContext>
    </LanguageContext>
  );
}
