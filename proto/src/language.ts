/** Languages of mails and messages. */
export const languages = ["en", "zh"] as const;
export type Language = (typeof languages)[number];

/** The language of a game client's locale such as `zh_cn`; everything that is not Chinese is English. */
export function languageOfLocale(locale: string): Language {
  return /^zh(?:[_-]|$)/i.test(locale) ? "zh" : "en";
}

/** What people read, in each language; values stand as `{name}`. */
export type Sentence = Readonly<Record<Language, string>>;

type NameIn<Text extends string> = string extends Text
  ? string
  : Text extends `${string}{${infer Name}}${infer Rest}`
    ? Name | NameIn<Rest>
    : never;
type Value = string | number;
/** The values of a sentence that is known to the compiler are required, those of others are not. */
export type ValuesOf<S extends Sentence> = [NameIn<S[Language]>] extends [never]
  ? []
  : string extends NameIn<S[Language]>
    ? [values?: Readonly<Record<string, Value>>]
    : [values: Readonly<Record<NameIn<S[Language]>, Value>>];

/** A sentence with its values; one that is missing stays a name in braces. */
export function say<const S extends Sentence>(
  sentence: S,
  language: Language,
  ...[values]: ValuesOf<S>
): string {
  const known: Readonly<Record<string, Value>> = values ?? {};
  return sentence[language].replace(/\{(\w+)\}/g, (whole, name: string) => String(known[name] ?? whole));
}

/** A sentence in all languages, for readers whose language nobody knows. */
export function sayInAll<const S extends Sentence>(
  sentence: S,
  separator: string,
  ...values: ValuesOf<S>
): string {
  return languages.map((language) => say(sentence, language, ...values)).join(separator);
}

export type Say = <const S extends Sentence>(sentence: S, ...values: ValuesOf<S>) => string;

export function sayIn(language: Language): Say {
  return (sentence, ...values) => say(sentence, language, ...values);
}

const secondsUntilMinutes = 120;

/** `40 s`, or `3 min` for what takes long. */
export function sayDuration(seconds: number, say: Say): string {
  if (seconds < secondsUntilMinutes) return say({ en: "{n} s", zh: "{n} 秒" }, { n: seconds });
  return say({ en: "{n} min", zh: "{n} 分钟" }, { n: Math.round(seconds / 60) });
}

/** Speaks to somebody whose client has this locale now. */
export function sayTo(locale: () => string): Say {
  return (sentence, ...values) => say(sentence, languageOfLocale(locale()), ...values);
}
