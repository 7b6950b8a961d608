import type { ReactNode } from "react";
import { I18nProvider } from "react-aria-components";

/** The language in which the component library speaks to readers. */
export function ComponentLanguage({ language, children }: { language: string; children: ReactNode }) {
  return <I18nProvider locale={language}>{children}</I18nProvider>;
}
