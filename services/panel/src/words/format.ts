// Numbers, sizes and times as a person of the language writes them.

import type { Language } from "./language.ts";
import { visible } from "./visible.ts";

/** A name of somebody's making inside a sentence: its direction stays its own, and nothing in it hides. */
export function isolate(name: string): string {
  return `\u2068${visible(name)}\u2069`;
}

const units = ["B", "KiB", "MiB", "GiB", "TiB"] as const;

// To make one costs more than to use it a hundred times, and a list has hundreds of times.
function kept<Format>(make: (language: Language) => Format): (language: Language) => Format {
  const made = new Map<Language, Format>();
  return (language) => {
    const format = made.get(language) ?? make(language);
    made.set(language, format);
    return format;
  };
}

const wholeFormatOf = kept((language) => new Intl.NumberFormat(language, { maximumFractionDigits: 0 }));
const tenthsFormatOf = kept((language) => new Intl.NumberFormat(language, { maximumFractionDigits: 1 }));
const relativeFormatOf = kept((language) => new Intl.RelativeTimeFormat(language, { numeric: "auto" }));
const dateFormatOf = kept(
  (language) => new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" }),
);

/** `1536` is `1.5 KiB`. */
export function formatBytes(bytes: number, language: Language): string {
  let value = bytes;
  let unit = 0;
  for (; value >= 1_024 && unit < units.length - 1; unit++) value /= 1_024;
  const formatOf = unit === 0 || value >= 100 ? wholeFormatOf : tenthsFormatOf;
  return `${formatOf(language).format(value)} ${units[unit]}`;
}

/** A quantity of a server's settings as sizes are written elsewhere: `2Gi` is `2 GiB`. Others stay as they are. */
export function formatQuantity(quantity: string): string {
  return quantity.replace(/^(\d+(?:\.\d+)?)([KMGT]i)$/, "$1 $2B");
}

const steps = [
  ["second", 60],
  ["minute", 60],
  ["hour", 24],
] as const;

/** "3 minutes ago" up to a day, then the date and the time. */
export function formatTime(at: number, now: number, language: Language): string {
  let distance = (at - now) / 1_000;
  const relative = relativeFormatOf(language);
  for (const [unit, next] of steps) {
    if (Math.abs(Math.round(distance)) < next) return relative.format(Math.round(distance), unit);
    distance /= next;
  }
  return formatDate(at, language);
}

/** For how many milliseconds `formatTime` says the same of a moment. */
export function timeHoldsMs(at: number, now: number): number {
  let unitMs = 1_000;
  // Where the words of the unit below begin.
  let belowMs = -Infinity;
  for (const [, next] of steps) {
    const value = Math.round((at - now) / unitMs);
    if (Math.abs(value) < next) return Math.min(at - now - (value - 0.5) * unitMs, at - now - belowMs);
    belowMs = (next - 0.5) * unitMs;
    unitMs *= next;
  }
  return at > now ? at - now - belowMs : Infinity;
}

export function formatDate(at: number, language: Language): string {
  return dateFormatOf(language).format(at);
}

/** `75` seconds are `1:15`. */
export function formatClock(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}
