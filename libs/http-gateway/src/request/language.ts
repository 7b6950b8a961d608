// The language that a browser asks for (RFC 9110 12.5.4).

import { type Language, languages } from "@svc/proto";

const entry = /^([a-z]{1,8})(?:-[a-z0-9]{1,8})*(?:;q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/;
const mostEntries = 20;

/** The one of our languages that Accept-Language likes best, the first of equals; undefined when it likes none. */
export function languageOf(header: string | undefined): Language | undefined {
  if (header === undefined) return undefined;
  let best: Language | undefined;
  let bestWeight = 0;
  for (const text of header.toLowerCase().split(",", mostEntries)) {
    const [, primary, weight = "1"] = entry.exec(text.replaceAll(/[ \t]/g, "")) ?? [];
    const language = languages.find((one) => one === primary);
    if (language === undefined || Number(weight) <= bestWeight) continue;
    best = language;
    bestWeight = Number(weight);
  }
  return best;
}
