// What one run of a probe saw (docs/reference/alerts.md#conditions).

import type { alerts } from "@svc/proto";
import { languages, type Sentence, say, type ValuesOf } from "@svc/proto/language";

export type Finding = {
  key: string;
  severity: alerts.AlertSeverity;
  summary: Sentence;
  hint: Sentence;
  /** How long it must last before staff are told. */
  forMs: number;
  /** Something that happened once: told once, never resolved. */
  event: boolean;
};

/** What all probes saw. Alerts whose key begins with an unknown prefix keep their state. */
export type Observation = {
  findings: readonly Finding[];
  unknown: readonly alerts.UnjudgedCheck[];
};

const minuteMs = 60_000;
const longestText = 400;

type About = {
  key: string;
  severity: alerts.AlertSeverity;
  forMinutes?: number;
  event?: boolean;
  hint: Sentence;
};

/** A finding whose summary has its values; what others wrote into them is one line of bounded length. */
export function finding<const S extends Sentence>(
  about: About,
  summary: S,
  ...[values]: ValuesOf<S>
): Finding {
  const known: Readonly<Record<string, string | number>> = values ?? {};
  const clean = Object.fromEntries(Object.entries(known).map(([name, value]) => [name, oneLine(value)]));
  const [en, zh] = languages.map((language) => say(summary as Sentence, language, clean));
  const { key, severity, forMinutes = 0, event = false, hint } = about;
  return {
    ...{ key: key.slice(0, 300), severity, event, forMs: forMinutes * minuteMs },
    summary: { en: en ?? "", zh: zh ?? "" },
    hint: { en: hint.en, zh: hint.zh },
  };
}

function oneLine(value: string | number): string | number {
  if (typeof value === "number") return value;
  return value
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ")
    .trim()
    .slice(0, longestText);
}
