export const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

const storageKey = "svc.theme";

export function storedTheme(): Theme {
  const stored = localStorage.getItem(storageKey);
  return themes.find((theme) => theme === stored) ?? "system";
}

export function storeTheme(theme: Theme): void {
  localStorage.setItem(storageKey, theme);
}

/** Light or dark for the whole document; the system's choice needs no mark. */
export function applyTheme(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}
