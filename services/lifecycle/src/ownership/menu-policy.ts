// What a player may do with a server in the lobby's menu (docs/reference/wake.md#menu). Pure.

import type { ownership } from "@svc/proto";
import type { z } from "zod";
import type { Server } from "../cluster/resource.ts";
import { hasGivenUp } from "../server/info.ts";
import { decideWake, type Waker } from "../server/wake-policy.ts";

export type MenuVerdict = z.output<typeof ownership.MenuVerdict>;

/** What the database knows about one server and one player. */
export type MenuFacts = { isRetiring: boolean; isOwned: boolean; hasPower: boolean; isListed: boolean };

/**
 * The strongest verdict wins. It follows the checks of a wake, without cooldown and capacity; a running server can be
 * joined whatever the verdict.
 */
export function verdictOf(
  server: Server,
  facts: MenuFacts,
  about: { isStaff: boolean; autoRestarts: number },
): MenuVerdict {
  if (facts.isRetiring) return "retiring";
  if (hasGivenUp(server, about.autoRestarts)) return "start_failed";
  if (facts.isOwned) return "owner";
  const other: Waker = { isStaff: about.isStaff, hasPower: facts.hasPower };
  const answer = decideWake(server, other);
  if (answer === "allowed") return "wake";
  if (answer === "refused") return "owner_only";
  return facts.isListed ? "wake" : "allowlist";
}
