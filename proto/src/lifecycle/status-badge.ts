// The picture of a server's state (docs/reference/status-pages.md#badge). Names come from people: nothing of them becomes
// anything but text, and all the rest is fixed. Pure.

import { hash } from "node:crypto";
import { type Language, languages } from "../language.ts";
import { visibleName } from "./visible-name.ts";

/** What is older is not claimed to be so now. */
const trustedMs = 3 * 60_000;

export const publicStates = [
  "online",
  "starting",
  "stopping",
  "asleep",
  "maintenance",
  "unavailable",
] as const;
type PublicState = (typeof publicStates)[number];
type Shown = PublicState | "unknown";

/** What is drawn of a status page. */
export type Badged = {
  name: string;
  state: PublicState;
  players?: { online: number; max: number } | undefined;
  as_of: string;
};

const words: Record<Shown, Record<Language, string>> = {
  online: { en: "online", zh: "在线" },
  starting: { en: "starting", zh: "启动中" },
  stopping: { en: "going to sleep", zh: "即将休眠" },
  asleep: { en: "asleep", zh: "休眠中" },
  maintenance: { en: "maintenance", zh: "维护中" },
  unavailable: { en: "unavailable", zh: "不可用" },
  unknown: { en: "unknown", zh: "未知" },
};

/** Each has a contrast of at least 4.5 to white. */
const colours: Record<Shown, string> = {
  online: "#1a7f37",
  starting: "#8a5a00",
  stopping: "#57606a",
  asleep: "#0969da",
  maintenance: "#8250df",
  unavailable: "#cf222e",
  unknown: "#57606a",
};

// A line around it in the dark, where its left half would melt into the page.
const style = ".e{stroke:#0000}@media(prefers-color-scheme:dark){.e{stroke:#8b949e}}";

/** Nothing may be loaded or run, also where the picture is opened by itself; the one style is known by its digest. */
export const badgePolicy = [
  "default-src 'none'",
  `style-src 'sha256-${hash("sha256", style, "base64")}'`,
  "frame-ancestors 'none'",
  "sandbox",
].join("; ");

/** What its bytes depend on beside the entry. */
export function badgeVariant(
  { as_of }: Badged,
  { input, now }: { input: Readonly<Record<string, unknown>>; now: number },
): string {
  const language = languages.find((one) => one === input["language"]) ?? "en";
  return now - Date.parse(as_of) > trustedMs ? `${language} unknown` : language;
}

export function drawBadge({ name, state, players }: Badged, variant: string): string {
  const [given, age] = variant.split(" ");
  const language: Language = given === "zh" ? "zh" : "en";
  const shown: Shown = age === "unknown" ? "unknown" : state;
  const counted = shown === "online" && players ? ` ${players.online}/${players.max}` : "";
  const label = shortened(visibleName(name));
  return drawing({ label, value: words[shown][language] + counted, colour: colours[shown] });
}

const mostColumns = 32;
const columnWidth = 6.6;
const margin = 8;

/** Wide characters take two columns. */
const columnsOf = (text: string) =>
  [...text].reduce(
    (sum, one) =>
      sum +
      (/[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f000}-\u{3ffff}]/u.test(
        one,
      )
        ? 2
        : 1),
    0,
  );

function shortened(text: string): string {
  if (columnsOf(text) <= mostColumns) return text;
  const kept: string[] = [];
  let columns = 1;
  for (const one of text) {
    columns += columnsOf(one);
    if (columns > mostColumns) break;
    kept.push(one);
  }
  return `${kept.join("").trimEnd()}…`;
}

const escaped = (text: string) => text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);
const rounded = (value: number) => Math.round(value * 10) / 10;

// `textLength` makes the text as wide as its box in every font.
function drawing(about: { label: string; value: string; colour: string }): string {
  const [label, value] = [escaped(about.label), escaped(about.value)];
  const inner = (text: string) => rounded(columnsOf(text) * columnWidth);
  const [labelWidth, valueWidth] = [inner(about.label), inner(about.value)];
  const [left, right] = [rounded(labelWidth + 2 * margin), rounded(valueWidth + 2 * margin)];
  const width = rounded(left + right);
  const text = (content: string, x: number, length: number) =>
    `<text x="${rounded(x)}" y="14" textLength="${length}" lengthAdjust="spacingAndGlyphs">${content}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="20" role="img" aria-label="${label}: ${value}"><title>${label}: ${value}</title><style>${style}</style><clipPath id="r"><rect width="${width}" height="20" rx="3"/></clipPath><g clip-path="url(#r)"><rect width="${left}" height="20" fill="#30363d"/><rect x="${left}" width="${right}" height="20" fill="${about.colour}"/></g><rect class="e" x=".5" y=".5" width="${rounded(width - 1)}" height="19" rx="2.5" fill="none"/><g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">${text(label, margin, labelWidth)}${text(value, left + margin, valueWidth)}</g></svg>`;
}
