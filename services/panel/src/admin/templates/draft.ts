// A template as somebody types it (docs/reference/server-templates.md#settings). Pure.

import type { Input, Output } from "../../api/operations.ts";
import { isQuantity } from "../../settings/hardware-form.ts";
import { minutesOf, secondsOf } from "../../settings/settings-form.ts";

export type Template = Output<"serverTemplates.list">["templates"][number];
type Settings = Template["settings"];
type Policy = NonNullable<Settings["autostartPolicy"]>;

export const longestTitle = 64;
export const longestDescription = 256;

/** Everything is text; what is empty is left to the platform. */
type Draft = {
  name: string;
  title: string;
  description: string;
  offered: boolean;
  image: string;
  memory: string;
  storage: string;
  cpu: string;
  policy: Policy | "";
  idleMinutes: string;
  flags: string;
  env: string;
  /** What the form has no field for, and keeps. */
  others: Omit<Settings, Shown>;
};
type Shown =
  | "image"
  | "memory"
  | "storage"
  | "resources"
  | "autostartPolicy"
  | "idleStopSeconds"
  | "javaFlags"
  | "env";
/** Of `resources`, what the form has no field for. */
type Requests = Omit<NonNullable<Settings["resources"]>, "cpu">;
export type FormDraft = Draft & { requests: Requests };

const settingsDraft = (settings: Settings) => {
  const { image = "", memory = "", storage = "", resources, autostartPolicy, idleStopSeconds } = settings;
  const { javaFlags = [], env = [] } = settings;
  const { cpu = "", ...requests } = resources ?? {};
  const shown = new Set<string>([
    ...["image", "memory", "storage", "resources", "autostartPolicy", "idleStopSeconds", "javaFlags", "env"],
  ]);
  return {
    ...{ image, memory, storage, cpu, requests },
    policy: autostartPolicy ?? ("" as const),
    idleMinutes: idleStopSeconds === undefined ? "" : minutesOf(idleStopSeconds),
    flags: javaFlags.join("\n"),
    env: env.map(({ name, value }) => `${name}=${value}`).join("\n"),
    others: Object.fromEntries(
      Object.entries(settings).filter(([key]) => !shown.has(key)),
    ) as Draft["others"],
  };
};

export const emptyDraft: FormDraft = {
  ...{ name: "", title: "", description: "", offered: false },
  ...settingsDraft({}),
};

export function draftOf({ name, title, description, offered, settings }: Template): FormDraft {
  return { name, title, description, offered, ...settingsDraft(settings) };
}

/** The draft with the settings of a server in place of its own. */
export function withSettings(draft: FormDraft, settings: Settings): FormDraft {
  return { ...draft, ...settingsDraft(settings) };
}

type Problem = "name" | "memory" | "storage" | "cpu" | "idle" | "env";
type Body = Omit<Input<"serverTemplates.save">, "revision">;
export type Decided = { body: Body | undefined; problems: readonly Problem[] };

export function decideDraft(draft: FormDraft): Decided {
  const { image, memory, storage, cpu, policy, requests, others } = draft;
  const isWrong = (amount: string) => amount !== "" && !isQuantity(amount);
  const idle = draft.idleMinutes.trim() === "" ? undefined : secondsOf(draft.idleMinutes);
  const isIdleWrong = draft.idleMinutes.trim() !== "" && !isIdle(idle);
  const env = linesOf(draft.env).map(variableOf);
  const found: readonly (readonly [Problem, boolean])[] = [
    ["name", !/^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/.test(draft.name)],
    ["memory", isWrong(memory)],
    ["storage", isWrong(storage)],
    ["cpu", isWrong(cpu)],
    ["idle", isIdleWrong],
    ["env", env.some((one) => one === undefined)],
  ];
  const problems = found.filter(([, isThere]) => isThere).map(([problem]) => problem);
  if (problems.length > 0) return { body: undefined, problems };
  const resources = { ...requests, ...(cpu !== "" && { cpu }) };
  const flags = linesOf(draft.flags);
  const { name, title, description, offered } = draft;
  const settings: Settings = {
    ...others,
    ...(image !== "" && { image }),
    ...(memory !== "" && { memory }),
    ...(storage !== "" && { storage }),
    ...(Object.keys(resources).length > 0 && { resources }),
    ...(policy !== "" && { autostartPolicy: policy }),
    ...(idle !== undefined && { idleStopSeconds: idle }),
    ...(flags.length > 0 && { javaFlags: flags }),
    ...(env.length > 0 && { env: env.filter((one) => one !== undefined) }),
  };
  return { problems: [], body: { name, title, description, offered, settings } };
}

const isIdle = (seconds: number | undefined) =>
  seconds !== undefined && (seconds === 0 || (seconds >= 60 && seconds <= 86_400));

function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

/** `NAME=value`; the value may be empty and have more of the signs. */
function variableOf(line: string): { name: string; value: string } | undefined {
  const at = line.indexOf("=");
  return at < 1 ? undefined : { name: line.slice(0, at).trim(), value: line.slice(at + 1) };
}
