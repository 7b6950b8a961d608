// Rights that are often given together (docs/reference/shared-access.md#presets). Panel and command line offer them; what
// is stored is the rights and limits, so changing a preset changes nobody's access.

import { type MemberRight, memberRights } from "../right.ts";
import type { AccessLimits } from "./grant.ts";

export type AccessPreset = { rights: readonly MemberRight[]; limits?: AccessLimits };

export const accessPresets = {
  /** Looks after players: sees the console, kicks and bans, talks and teleports. */
  helper: {
    rights: ["see", "console.read", "command", "players"],
    limits: {
      allow_commands: ["list", "say", "tell", "msg", "tp", "teleport", "gamemode spectator", "time query"],
    },
  },
  /** Builds: starts and stops the server, makes backups, changes what building needs. */
  builder: {
    rights: ["see", "console.read", "command", "power", "backups.make"],
    limits: {
      allow_commands: ["list", "say", "tp", "teleport", "gamemode", "time", "weather", "difficulty"],
    },
  },
  /** Everything but giving the server away. */
  "co-owner": { rights: memberRights },
} as const satisfies Record<string, AccessPreset>;
export type AccessPresetName = keyof typeof accessPresets;
