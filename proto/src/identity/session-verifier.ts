// hasJoined: which session server knows a joining player (docs/reference/session-verifier.md#answers).
// Vocabulary: source = a session server that may vouch for a player; identity source = Mojang's, the only one whose
// UUIDs are kept; a source's outcome is a profile, "not mine", or a failure.

import { z } from "zod";
import { operation } from "../contract.ts";

/** A player as in the vanilla protocol; `id` has no dashes. */
export const Profile = z.strictObject({
  id: z.string().regex(/^[0-9a-f]{32}$/),
  name: z.string(),
  properties: z.array(z.looseObject({})).optional(),
});
export type Profile = z.output<typeof Profile>;

// The owner handles missing and overlong parameters: the protocol has no error for them.
const parameter = z.string().optional();

export const hasJoined = operation({
  subject: "identity.session-verifier.has-joined",
  http: {
    method: "GET",
    path: "/session/game/hasJoined",
    aliases: ["/session/minecraft/hasJoined"],
    face: "internal",
    tier: "public",
    nullAs: 204,
    errors: "empty",
    refusesBody: true,
  },
  /** With `bars=told` a barred player is refused as such; other proxies only learn that no source confirms the player. */
  query: { username: parameter, serverId: parameter, ip: parameter, bars: parameter },
  output: Profile.nullable(),
  faults: ["player_barred"],
  // A session server may answer a login once, so whoever repeats it has to know that it did.
  idempotent: false,
  deadlineMs: 30_000,
  summary:
    "The profile of a joining player from the first session server that vouches for them; null if none does.",
  spec: "docs/reference/session-verifier.md#answers",
});
