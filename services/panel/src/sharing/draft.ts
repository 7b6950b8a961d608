// What somebody fills in about an access, and the grant that it stands for (docs/reference/shared-access.md#rights). Pure.

import {
  allRights,
  type Grant,
  type Limits,
  type PresetName,
  presets,
  type Right,
} from "../access/presets.ts";

export type Draft = {
  preset: PresetName | "own";
  rights: readonly Right[];
  /** One pattern or path in each line; an empty text limits nothing. */
  allowed: string;
  denied: string;
  readable: string;
  writable: string;
  /** The last day, in the zone of the device; empty: no end. */
  lastDay: string;
  /** The moment that it ends at, as long as nobody chooses another day. */
  endsAt: string | undefined;
};

const linesOf = (text: string) =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
const textOf = (lines: readonly string[] | undefined) => lines?.join("\n") ?? "";
const inOrder = (rights: readonly Right[]) =>
  allRights.filter((right) => right === "see" || rights.includes(right));

/** The fields that show a grant. */
export function draftOf({ rights, limits = {}, ends_at }: Grant): Draft {
  return {
    preset: "own",
    rights: inOrder(rights),
    allowed: textOf(limits.allow_commands),
    denied: textOf(limits.deny_commands),
    readable: textOf(limits.read_paths),
    writable: textOf(limits.write_paths),
    lastDay: ends_at === undefined ? "" : lastDayOf(ends_at),
    endsAt: ends_at,
  };
}

/** The fields of a preset; what it does not say stays as it was. */
export function withPreset(draft: Draft, preset: Draft["preset"]): Draft {
  if (preset === "own") return { ...draft, preset };
  const { lastDay, endsAt } = draft;
  return { ...draftOf(presets[preset]), preset, lastDay, endsAt };
}

export const newDraft: Draft = withPreset(
  {
    preset: "own",
    rights: ["see"],
    allowed: "",
    denied: "",
    readable: "",
    writable: "",
    lastDay: "",
    endsAt: undefined,
  },
  "helper",
);

/** With a right more or less; then it is no preset any more. */
export function withRight(draft: Draft, right: Right, isChosen: boolean): Draft {
  const others = draft.rights.filter((one) => one !== right);
  return { ...draft, preset: "own", rights: inOrder(isChosen ? [...others, right] : others) };
}

/** Which rights a limit is about; it counts only with one of them. */
const limited = {
  allow_commands: ["command"],
  deny_commands: ["command"],
  read_paths: ["files.read", "backups.download"],
  write_paths: ["files.write", "backups.restore"],
} as const satisfies Record<keyof Limits, readonly Right[]>;

export function isLimited({ rights }: Pick<Draft, "rights">, limit: keyof Limits): boolean {
  return limited[limit].some((right) => rights.includes(right));
}

export function grantOf(draft: Draft): { rights: Right[]; limits?: Limits; ends_at?: string } {
  const given = (key: keyof Limits, text: string) => {
    const lines = linesOf(text);
    return isLimited(draft, key) && lines.length > 0 ? { [key]: lines } : {};
  };
  const limits: Limits = {
    ...given("read_paths", draft.readable),
    ...given("write_paths", draft.writable),
    ...given("allow_commands", draft.allowed),
    ...given("deny_commands", draft.denied),
  };
  return {
    rights: inOrder(draft.rights),
    ...(Object.keys(limits).length > 0 && { limits }),
    ...(draft.lastDay !== "" && { ends_at: endsAtOf(draft) }),
  };
}

function endsAtOf({ lastDay, endsAt }: Draft): string {
  return endsAt !== undefined && lastDayOf(endsAt) === lastDay ? endsAt : endOf(lastDay).toISOString();
}

function lastDayOf(endsAt: string): string {
  return dayOf(new Date(Date.parse(endsAt) - 1));
}

/** Whether the last day is today or later, where one is given. */
export function isEndAhead({ lastDay }: Pick<Draft, "lastDay">, now: number): boolean {
  return lastDay === "" || endOf(lastDay).getTime() > now;
}

/** The first moment after a day, on the clock of the device. */
function endOf(day: string): Date {
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  return new Date(year, month - 1, date + 1);
}

function dayOf(at: Date): string {
  const two = (value: number) => String(value).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}
