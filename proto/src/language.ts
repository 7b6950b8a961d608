/** Languages of mails and messages. */
export const languages = ["en", "zh"] as const;
export type Language = (typeof languages)[number];

/** The language of a game client's locale such as `zh_cn`; everything that is not Chinese is English. */
export function languageOfLocale(locale: string): Language {
  return /^zh(?:[_-]|$)/i.test(locale) ? "zh" : "en";
}
