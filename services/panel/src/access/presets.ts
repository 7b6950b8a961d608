// Rights that are often given together (docs/reference/shared-access.md#presets); a test holds them against the contracts, of which
// the panel ships types only.

import type { Input } from "../api/operations.ts";

export type Right = Input<"members.invite">["rights"][number];
export type Grant = { rights: readonly Right[]; limits?: Limits | undefined; ends_at?: string | undefined };
export type Limits = NonNullable<Input<"members.invite">["limits"]>;

/** All there are, in the order in which they are shown. */
export const allRights = [
  "see",
  "console.read",
  "command",
  "power",
  "players",
  "files.read",
  "files.write",
  "backups.make",
  "backups.restore",
  "backups.download",
  "backups.delete",
  "schedules",
  "settings",
  "invite",
] as const satisfies readonly Right[];

export const presets = {
  helper: {
    rights: ["see", "console.read", "command", "players"],
    limits: {
      allow_commands: ["list", "say", "tell", "msg", "tp", "teleport", "gamemode spectator", "time query"],
    },
  },
  builder: {
    rights: ["see", "console.read", "command", "power", "backups.make"],
    limits: {
      allow_commands: ["list", "say", "tp", "teleport", "gamemode", "time", "weather", "difficulty"],
    },
  },
  "co-owner": { rights: allRights },
} as const satisfies Record<string, Grant>;

export type PresetName = keyof typeof presets;
