// What the watchdog found, and how the platform is as a whole (docs/reference/alerts.md#status). Pure.

import type { Output } from "../../api/operations.ts";
import type { StatusLook } from "../../ui/status.tsx";
import type { HealthWords } from "../../words/health-words.ts";
import type { Language } from "../../words/language.ts";

export type AlertStatus = Output<"alerts.readAlerts">;
export type Alert = AlertStatus["alerts"][number];
export type Delivery = AlertStatus["heartbeat"];
export type HistoryEntry = Output<"alerts.readAlertHistory">["entries"][number];

/** How the platform is; `out-of-date`: the watchdog itself does not report; `unsure`: well, as far as could be checked. */
export type PlatformHealth =
  | { state: "critical" | "warning"; firing: readonly Alert[] }
  | { state: "well" | "never-checked" | "out-of-date" | "unsure" };

/** The worst that holds. What was found too long ago says nothing about now. */
export function decideHealth(
  status: Pick<AlertStatus, "checked_at" | "stale" | "alerts" | "unknown">,
): PlatformHealth {
  if (status.checked_at === null) return { state: "never-checked" };
  if (status.stale) return { state: "out-of-date" };
  const firing = status.alerts.filter(({ state }) => state === "firing");
  if (firing.some(({ severity }) => severity === "critical")) return { state: "critical", firing };
  if (firing.length > 0) return { state: "warning", firing };
  return { state: status.unknown.some(isConfigured) ? "unsure" : "well" };
}

/** Whether a check without a verdict has something to check. */
export function isConfigured({ configured }: AlertStatus["unknown"][number]): boolean {
  return configured !== false;
}

export const lookOfHealth: Record<PlatformHealth["state"], StatusLook> = {
  critical: "failed",
  warning: "starting",
  well: "running",
  "never-checked": "unknown",
  "out-of-date": "failed",
  unsure: "running",
};

export const noticeOfHealth: Record<PlatformHealth["state"], "failed" | "waiting" | "done" | "info"> = {
  critical: "failed",
  warning: "waiting",
  well: "done",
  "never-checked": "info",
  "out-of-date": "failed",
  unsure: "info",
};

/** A sentence that comes in each language. */
export function inLanguage(text: Alert["summary"], language: Language): string {
  return language === "zh-CN" ? text.zh : text.en;
}

/** The platform's health in one sentence: all well, or what is wrong. */
export function healthSentence(health: PlatformHealth, words: HealthWords, language: Language): string {
  const { alerts } = words;
  if (!("firing" in health)) return alerts.sentences[health.state];
  const [worst, ...others] = health.firing;
  const summary = worst ? inLanguage(worst.summary, language) : "";
  return others.length === 0 ? summary : alerts.andMore(summary, others.length);
}

/** What a silence may cover when it begins at an alert: it alone, all of its kind, everything. */
export function silenceKeysOf(key: string): { alone: string; kind: string; all: string } {
  const slash = key.indexOf("/");
  return { alone: key, kind: slash === -1 ? key : `${key.slice(0, slash + 1)}*`, all: "*" };
}

export const lookOfDelivery: Record<Delivery["state"], StatusLook> = {
  ok: "running",
  failing: "failed",
  unused: "unknown",
  off: "asleep",
  held: "starting",
};

/** Hours for which alerts may be silenced. */
export const silenceHours = ["1", "4", "8", "24", "72", "168"] as const;
