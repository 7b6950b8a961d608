import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { ComponentLanguage } from "../ui/component-language.tsx";
import { chooseLanguage, type Language, storedLanguage, storeLanguage } from "../words/language.ts";
import {
  type FirstWords,
  FirstWordsContext,
  LanguageContext,
  loadFirstWords,
  loadWords,
} from "../words/words.ts";

/** Nothing is drawn yet that a reload could cost. */
const reloadAfterMs = 3_000;

/** Sign-in says little. */
const bare: readonly string[] = ["/login", "/setup"];

/** The words of a language, as far as the open page needs them. */
async function load(language: Language): Promise<FirstWords> {
  const [words] = await Promise.all([
    loadFirstWords(language),
    ...(bare.includes(location.pathname) ? [] : [loadWords(language)]),
  ]);
  return words;
}

/** Asked for before anything is drawn. */
const firstLanguage = chooseLanguage(storedLanguage(), navigator.languages);
load(firstLanguage).catch(() => undefined);

type Spoken = { language: Language; words: FirstWords };

/**
 * Loads the words of the person's language; nothing is drawn before they are there. When the first ones cannot be fetched the
 * page is loaded again; when those of another language cannot, the page keeps the language that it has.
 */
export function LanguageProvider({ children }: { children: ReactNode }) {
  const [chosen, setChosen] = useState(firstLanguage);
  const [spoken, setSpoken] = useState<Spoken>();
  const hasWords = useRef(false);
  useEffect(() => {
    let isCurrent = true;
    let reload: ReturnType<typeof setTimeout> | undefined;
    load(chosen).then(
      (words) => {
        if (!isCurrent) return;
        hasWords.current = true;
        document.documentElement.lang = chosen;
        setSpoken({ language: chosen, words });
      },
      () => {
        if (isCurrent && !hasWords.current) reload = setTimeout(() => location.reload(), reloadAfterMs);
      },
    );
    return () => {
      isCurrent = false;
      clearTimeout(reload);
    };
  }, [chosen]);
  const language = spoken?.language ?? chosen;
  const choice = useMemo(
    () => ({
      language,
      choose: (next: Language) => {
        storeLanguage(next);
        setChosen(next);
      },
    }),
    [language],
  );
  if (!spoken) return null;
  return (
    <LanguageContext value={choice}>
      <FirstWordsContext value={spoken.words}>
        <ComponentLanguage language={language}>{children}</ComponentLanguage>
      </FirstWordsContext>
    </LanguageContext>
  );
}
