// Players and accounts: bind codes, links, the blacklist and re-claims (api.md A4, A8; behaviour.md f).
// Vocabulary: link = a player's UUID belongs to an account; bind code = eight characters that prove a player;
// hold = data of a barred player kept for thirty days.

import { z } from "zod";
import { request } from "../contract.ts";
import { PlayerUuid } from "../text.ts";

export const namePlayers = request({
  subject: "identity.link.name-players",
  input: { mc_uuids: z.array(PlayerUuid).max(500) },
  output: z.strictObject({ names: z.record(z.string(), z.string()) }),
  callers: ["lifecycle"],
  idempotent: true,
  deadlineMs: 3_000,
  summary: "User names of the live accounts that players are linked to, by UUID.",
  spec: "interface.md 2.6",
});
