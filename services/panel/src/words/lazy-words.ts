// Catalogues that are loaded with the first page that needs them: what is loaded at sign-in stays small.

import type { Language } from "./language.ts";

/** Loads a catalogue once for each language; the same promise is for `use`. */
export function createLoader<Catalogue>(
  catalogues: Record<Language, () => Promise<Catalogue>>,
): (language: Language) => Promise<Catalogue> {
  const loaded = new Map<Language, Promise<Catalogue>>();
  return (language) => {
    const known = loaded.get(language);
    if (known !== undefined) return known;
    const loading = catalogues[language]();
    // The next try loads it again.
    loading.catch(() => loaded.delete(language));
    loaded.set(language, loading);
    return loading;
  };
}
