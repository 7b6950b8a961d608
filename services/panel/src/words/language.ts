/** Languages of the panel, by their tags in HTML. */
export const languages = { en: "English", "zh-CN": "简体中文" } as const;
export type Language = keyof typeof languages;

const storageKey = "svc.language";

/** The language for a person: the chosen one, else the first of the browser's that there is, else English. */
export function chooseLanguage(chosen: string | null, preferred: readonly string[]): Language {
  if (chosen !== null && chosen in languages) return chosen as Language;
  const found = preferred
    .map((tag) => tag.toLowerCase().split("-")[0])
    .find((tag) => tag === "en" || tag === "zh");
  return found === "zh" ? "zh-CN" : "en";
}

export function storedLanguage(): string | null {
  return localStorage.getItem(storageKey);
}

export function storeLanguage(language: Language): void {
  localStorage.setItem(storageKey, language);
}
