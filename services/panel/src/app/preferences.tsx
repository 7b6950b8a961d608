import { useState } from "react";
import { chooseDensity, densities, useDensity } from "../ui/density.ts";
import { Select } from "../ui/select.tsx";
import { type Language, languages } from "../words/language.ts";
import { useFirstWords, useLanguage } from "../words/words.ts";
import { applyTheme, storedTheme, storeTheme, type Theme, themes } from "./theme.ts";

/** Choosing language and theme; both are kept in this browser. */
export function LanguageAndTheme() {
  const { shell } = useFirstWords();
  const { language, choose } = useLanguage();
  const [theme, setTheme] = useState(storedTheme);
  const chooseTheme = (next: Theme) => {
    storeTheme(next);
    applyTheme(next);
    setTheme(next);
  };
  return (
    <>
      <Select
        isInline
        label={shell.language}
        value={language}
        onChange={choose}
        options={Object.entries(languages) as [Language, string][]}
      />
      <Select
        isInline
        label={shell.theme}
        value={theme}
        onChange={chooseTheme}
        options={themes.map((name) => [name, shell.themes[name]])}
      />
    </>
  );
}

/** Choosing how close rows stand; kept in this browser as well. */
export function DensityChoice() {
  const { shell } = useFirstWords();
  return (
    <Select
      isInline
      label={shell.density}
      value={useDensity()}
      onChange={chooseDensity}
      options={densities.map((name) => [name, shell.densities[name]])}
    />
  );
}
