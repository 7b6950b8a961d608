// What svc keeps about a player, for the player (docs/reference/players.md#own).
// Vocabulary: seen = when and how long a player was somewhere.

import { z } from "zod";
import { nothing, operation } from "../contract.ts";
import { PlayerUuid, Timestamp } from "../text.ts";
import { AuthSource } from "./link.ts";

const count = z.int().min(0);

export const seen = {
  /** When the first visit began that is kept, and when the player was there last. */
  first_seen: Timestamp,
  last_seen: Timestamp,
  played_seconds: count,
  visits: count,
};

/** What lifecycle keeps about one player (docs/reference/players.md#kept). */
export const PlayerData = z.strictObject({
  servers: z.array(z.strictObject({ server: z.string(), name: z.string(), ...seen })),
  /** Without their authors, who have a right to privacy of their own. */
  notes: z.array(z.strictObject({ server: z.string(), text: z.string(), at: Timestamp })),
  /** Servers on whose allowlist the player is; their owners decide who may wake them. */
  wake_rights: z.array(z.strictObject({ server: z.string(), added_at: Timestamp, can_wake: z.boolean() })),
  /** At the last join. */
  name: z.strictObject({ name: z.string(), seen_at: Timestamp }).optional(),
  /** Protocol of the last login of the last seven days. */
  version: z.strictObject({ protocol: z.int(), seen_on: z.iso.date() }).optional(),
  /** When the player had the data erased last; nothing from before comes back. */
  erased_at: Timestamp.optional(),
  /** Records of a player are deleted after this many days without a visit. */
  kept_days: z.number().min(0),
});
export type PlayerData = z.output<typeof PlayerData>;

const external = {
  path: "/api/v1/account/links/{mc_uuid}/data",
  face: "external",
  tier: "app",
} as const;

export const OwnPlayerData = PlayerData.extend({
  mc_uuid: z.string(),
  read_at: Timestamp,
  /** The tie between the player and the account that asks. */
  link: z.strictObject({ auth_source: AuthSource, verified_at: Timestamp }),
});
export type OwnPlayerData = z.output<typeof OwnPlayerData>;

export const read = operation({
  subject: "identity.player-data.read",
  http: { method: "GET", ...external },
  params: { mc_uuid: PlayerUuid },
  output: OwnPlayerData,
  faults: ["not_found"],
  summary: "All that is kept about a player of the caller, as one document.",
  spec: "docs/reference/players.md#own",
});

export const erase = operation({
  subject: "identity.player-data.erase",
  http: { method: "DELETE", ...external, status: 204 },
  params: { mc_uuid: PlayerUuid },
  output: nothing,
  faults: ["not_found", "reauth_required"],
  idempotent: true,
  summary: "Erases what servers know about a player of the caller, and notes about the player, for good.",
  spec: "docs/reference/players.md#erase",
});
