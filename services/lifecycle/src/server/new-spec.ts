// What a new server is (docs/reference/server-resource.md#create, docs/reference/server-templates.md#settings). Pure.

import type { InputOf, MinecraftServerSpec, serverTemplates } from "@svc/proto";
import type { LifecycleSettings } from "../config.ts";
import type { contracts } from "./deps.ts";
import {
  faultOfDisplayName,
  faultOfIdle,
  faultOfName,
  faultOfQuantity,
  faultOfSubdomain,
  idleOf,
  mergeResources,
  type Refusal,
} from "./input.ts";

type Settings = serverTemplates.TemplateSettings;
/** A node is placed by the caller. */
type NewServer = Omit<InputOf<typeof contracts.create>, "template" | "owner" | "claimable">;

export type NewServerSettings = Pick<
  LifecycleSettings,
  "default_image" | "default_memory" | "default_storage" | "idle_default" | "heap_reserve_min"
>;

type Outcome = { kind: "fine"; spec: MinecraftServerSpec } | { kind: "refused"; refusal: Refusal };

/** What is asked for, and the template's for what is not. A memory that is asked for replaces both of the template's. */
export function withTemplate(input: NewServer, template: Settings): NewServer {
  const { image, memory, storage, autostartPolicy, idleStopSeconds } = template;
  const { memoryRequest, ...others } = template.resources ?? {};
  const kept = input.memory === undefined && memoryRequest !== undefined ? { memoryRequest } : {};
  const resources = { ...others, ...kept, ...input.resources };
  return {
    ...present({ image, memory, storage, autostartPolicy, idleStopSeconds }),
    ...(Object.keys(resources).length > 0 && { resources }),
    ...present({ ...input, resources: undefined }),
    ...{ name: input.name, subdomain: input.subdomain },
  };
}

/** Checked in the order of docs/reference/server-resource.md#create: names, policy, sizes; `template` for what else it sets. */
export function newSpec(settings: NewServerSettings, input: NewServer, template: Settings = {}): Outcome {
  const displayName = input.displayName?.trim();
  const idleDefault = settings.idle_default / 1_000;
  const storage = input.storage ?? settings.default_storage;
  const memory = input.memory ?? settings.default_memory;
  const refusal =
    faultOfName(input.name) ??
    faultOfSubdomain(input.subdomain) ??
    faultOfDisplayName(displayName ?? "") ??
    (input.idleStopSeconds === undefined ? undefined : faultOfIdle(input.idleStopSeconds)) ??
    faultOfQuantity("memory", memory) ??
    faultOfQuantity("storage", storage);
  if (refusal) return { kind: "refused", refusal };
  const merged = mergeResources({}, { memory, resources: input.resources }, settings);
  if (merged.kind === "refused") return merged;
  const spec: MinecraftServerSpec = {
    subdomain: input.subdomain,
    image: input.image ?? settings.default_image,
    desiredState: "Stopped",
    autostartPolicy: input.autostartPolicy ?? "ownerOnly",
    fallbackServer: "login",
    ...(displayName && { displayName }),
    ...(input.nodeName !== undefined && { nodeName: input.nodeName }),
    resources: merged.resources,
    ...(merged.javaMemory !== undefined && { javaMemory: merged.javaMemory }),
    rcon: { enabled: true, port: 25_575, secretRef: { name: `${input.name}-rcon`, key: "password" } },
    storage: { size: storage, ...present({ storageClassName: template.storageClassName }) },
    idle: idleOf(input.idleStopSeconds ?? idleDefault, idleDefault),
    ...setByTemplate(template),
  };
  return { kind: "fine", spec };
}

/** What a creation itself does not name. */
function setByTemplate(template: Settings): Partial<MinecraftServerSpec> {
  const { description, javaFlags, args, env, onlineMode, restart, tags } = template;
  const { motd, startup, terminationGracePeriodSeconds } = template;
  const lifecycle =
    terminationGracePeriodSeconds === undefined ? undefined : { terminationGracePeriodSeconds };
  return present({ description, javaFlags, args, env, onlineMode, restart, tags, motd, startup, lifecycle });
}

/** Without the keys that have no value. */
export function present<T extends object>(from: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(from).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
