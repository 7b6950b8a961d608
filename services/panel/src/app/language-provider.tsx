import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { ComponentLanguage } from "../ui/component-language.tsx";
import { chooseLanguage, type Language, storedLanguage, storeLanguage } from "../words/language.ts";
import { LanguageContext, type Words, WordsContext } from "../words/words.ts";

const catalogues: Record<Language, () => Promise<Words>> = {
  en: async () => (await import("../words/en/index.ts")).en,
  "zh-CN": async () => (await import("../words/zh/index.ts")).zh,
};

/** Nothing is drawn yet that a reload could cost. */
const reloadAfterMs = 3_000;

/**
 * Loads the catalogue of the person's language; nothing is drawn before it is there. When the first one cannot be fetched the
 * page is loaded again; when another one cannot, the page keeps the language that it has.
 */
export function LanguageProvider({ children }: { children: ReactNode }) {
  const [language, setLanguage] = useState(() => chooseLanguage(storedLanguage(), navigator.languages));
  const [words, setWords] = useState<Words>();
  const hasWords = useRef(false);
  useEffect(() => {
    let isCurrent = true;
    let reload: ReturnType<typeof setTimeout> | undefined;
    catalogues[language]().then(
      (loaded) => {
        if (!isCurrent) return;
        hasWords.current = true;
        document.documentElement.lang = language;
        setWords(loaded);
      },
      () => {
        if (isCurrent && !hasWords.current) reload = setTimeout(() => location.reload(), reloadAfterMs);
      },
    );
    return () => {
      isCurrent = false;
      clearTimeout(reload);
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
