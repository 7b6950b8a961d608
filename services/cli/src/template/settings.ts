// Settings of a template as options and a file give them (docs/reference/server-templates.md#settings). Pure.

import { serverTemplates as contracts } from "@svc/proto";
import { CommandError } from "../output.ts";

/** Empty texts remove a setting. */
export type SettingOptions = {
  image?: string;
  memory?: string;
  storage?: string;
  cpu?: string;
  policy?: "ownerOnly" | "public" | "allowlist";
  idle?: number;
};

type Settings = contracts.TemplateSettings;

/** The settings with what the options say in place of what was there. */
export function withOptions(before: Settings, options: SettingOptions): Settings {
  const { image, memory, storage, cpu, policy, idle } = options;
  const { resources, ...kept } = before;
  const limits = cpu === undefined ? resources : { ...resources, cpu };
  return withoutEmpty({
    ...kept,
    ...(image !== undefined && { image }),
    ...(memory !== undefined && { memory }),
    ...(storage !== undefined && { storage }),
    ...(policy !== undefined && { autostartPolicy: policy }),
    ...(idle !== undefined && { idleStopSeconds: idle }),
    ...(limits && { resources: limits }),
  });
}

// The contract refuses a text of no characters, and the owner drops objects that say nothing.
function withoutEmpty(settings: Settings): Settings {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== "")) as Settings;
}

/** `value` is what a file holds. Throws what is wrong with it. */
export function settingsOfFile(file: string, value: unknown): Settings {
  const read = contracts.TemplateSettings.safeParse(value ?? {});
  if (read.success) return read.data;
  const problems = read.error.issues.map(
    ({ path, message }) => `${file}: ${path.length > 0 ? `${path.join(".")}: ` : ""}${message}`,
  );
  throw new CommandError(problems.join("\n"));
}

/** One line for people: `svc.local/demo-server:1.21.4, 4Gi, disk 8Gi, stops after 600 s`. */
export function settingsText({ image, memory, storage, idleStopSeconds: idle, ...others }: Settings): string {
  const parts = [
    image,
    memory,
    ...(storage === undefined ? [] : [`disk ${storage}`]),
    ...(idle === undefined ? [] : [idle === 0 ? "never stops" : `stops after ${idle} s`]),
    ...Object.keys(others).sort(),
  ].filter((part) => part !== undefined);
  return parts.join(", ") || "the defaults";
}
