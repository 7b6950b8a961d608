// What the form of a server's settings shows, and what of it is sent.

import type { FullStatus } from "../server/use-server.ts";

type Policy = NonNullable<FullStatus["autostartPolicy"]>;
export const policies: readonly Policy[] = ["public", "allowlist", "ownerOnly"];

export type IdleBounds = { minSeconds: number; maxSeconds: number; mayBeOff: boolean };
/** What staff may set (docs/reference/server-resource.md#create). */
export const staffBounds: IdleBounds = { minSeconds: 60, maxSeconds: 86_400, mayBeOff: true };

export type SettingsForm = {
  displayName: string;
  policy: Policy;
  stopsWhenEmpty: boolean;
  /** As it is typed. */
  idleMinutes: string;
};

type Changes = { displayName?: string; autostartPolicy?: Policy; idleStopSeconds?: number };

const usualMinutes = "10";

type Settings = Pick<FullStatus, "displayName" | "autostartPolicy" | "idleStopSeconds">;

export function formOf({
  displayName = "",
  autostartPolicy = "public",
  idleStopSeconds,
}: Settings): SettingsForm {
  return {
    displayName,
    policy: autostartPolicy,
    stopsWhenEmpty: idleStopSeconds > 0,
    idleMinutes: idleStopSeconds > 0 ? minutesOf(idleStopSeconds) : usualMinutes,
  };
}

/** `90` seconds are `1.5` minutes. */
export function minutesOf(seconds: number): string {
  return String(Number((seconds / 60).toFixed(2)));
}

/** Whole seconds of what was typed as minutes; undefined when it is not a number. */
export function secondsOf(typed: string): number | undefined {
  const text = typed.trim().replace(",", ".");
  return /^\d{1,6}(\.\d{1,2})?$/.test(text) ? Math.round(Number(text) * 60) : undefined;
}

/** The settings that differ, or `bad_idle_stop` when the idle stop is none that the person may set. */
export function changesOf(
  settings: Settings,
  form: SettingsForm,
  bounds: IdleBounds,
): Changes | "bad_idle_stop" {
  const before = formOf(settings);
  const displayName = form.displayName.trim();
  const idle = form.stopsWhenEmpty ? secondsOf(form.idleMinutes) : 0;
  const isIdleChanged = idle !== settings.idleStopSeconds;
  if (idle === undefined || (isIdleChanged && !isAllowed(idle, form.stopsWhenEmpty, bounds)))
    return "bad_idle_stop";
  return {
    ...(displayName !== before.displayName && { displayName }),
    ...(form.policy !== before.policy && { autostartPolicy: form.policy }),
    ...(isIdleChanged && { idleStopSeconds: idle }),
  };
}

function isAllowed(
  seconds: number,
  stops: boolean,
  { minSeconds, maxSeconds, mayBeOff }: IdleBounds,
): boolean {
  return stops ? seconds >= minSeconds && seconds <= maxSeconds : mayBeOff;
}
