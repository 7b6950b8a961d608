// What a clone takes over from its source (docs/reference/clones.md#settings). Pure.

import type { clones, MinecraftServerSpec, OutputOf } from "@svc/proto";

type Own = {
  name: string;
  subdomain: string;
  displayName?: string | undefined;
  nodeName?: string | undefined;
};
type LeftOut = OutputOf<typeof clones.create>["left_out"][number];

/**
 * Named field by field, so that a field that is added later stays behind until somebody has decided about it. Variables of the
 * environment are set by hand and may hold secrets, the claim is another server's world, and the password's Secret is its own.
 */
export function cloneSpec(source: MinecraftServerSpec, own: Own): MinecraftServerSpec {
  const { storage, idle, rcon } = source;
  return {
    subdomain: own.subdomain,
    image: source.image,
    desiredState: "Stopped",
    ...(own.displayName && { displayName: own.displayName }),
    ...(own.nodeName !== undefined && { nodeName: own.nodeName }),
    ...present(source, kept),
    ...(rcon && {
      rcon: {
        ...present(rcon, ["enabled", "port"]),
        secretRef: { name: `${own.name}-rcon`, key: "password" },
      },
    }),
    ...(storage && { storage: present(storage, ["size", "storageClassName"]) }),
    ...(idle && { idle: present(idle, ["autoStopEnabled", "emptySecondsBeforeStop"]) }),
  };
}

const kept = [
  "description",
  "autostartPolicy",
  "fallbackServer",
  "jar",
  "javaMemory",
  "javaFlags",
  "args",
  "onlineMode",
  "motd",
  "resources",
  "lifecycle",
  "startup",
  "restart",
  "tags",
] as const satisfies readonly (keyof MinecraftServerSpec)[];

/** What the source has set and the clone does without, for whoever asked for it. */
export function leftOutOf({ env, reaperExempt }: MinecraftServerSpec): LeftOut[] {
  return [
    ...(env && env.length > 0 ? (["env"] as const) : []),
    ...(reaperExempt ? (["reaperExempt"] as const) : []),
  ];
}

function present<T extends object, K extends keyof T>(from: T, keys: readonly K[]): Pick<T, K> {
  return Object.fromEntries(
    keys.filter((key) => from[key] !== undefined).map((key) => [key, from[key]]),
  ) as Pick<T, K>;
}
