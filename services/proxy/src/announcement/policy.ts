// Who is told of an announcement by the proxy, and when (docs/reference/announcements.md#game). Pure.
//
// | the player is                              | is told                                        |
// |--------------------------------------------|------------------------------------------------|
// | nowhere yet                                | later                                          |
// | at the gate, where nobody is known         | what is public                                 |
// | in the lobby                               | everything                                     |
// | on a server since before it was due        | nothing: the server's console tells them       |
// | on a server that they came to since        | everything                                     |

import type { Place } from "../session/place.ts";
import type { Announcement } from "./announcements.ts";

/** Maintenance is told of for the first time so long before it begins. */
const aheadMs = 30 * 60_000;

/** `key`: what a connection is told once. */
type Due = { key: string; kind: "message" | "soon" | "begun"; dueAt: number; until: number };

/** What is to be told of it now. */
export function dueOf({ id, start, end, maintenance }: Announcement, now: number): Due | undefined {
  const [from, to] = [Date.parse(start), Date.parse(end)];
  if (now >= to) return undefined;
  if (now >= from) return { key: id, kind: maintenance ? "begun" : "message", dueAt: from, until: to };
  if (!maintenance || now < from - aheadMs) return undefined;
  return { key: `${id} soon`, kind: "soon", dueAt: from - aheadMs, until: from };
}

export type Verdict = "tell" | "told" | "later";

/** `since`: when the player came to the place. */
export function verdictOf(
  { dueAt }: Pick<Due, "dueAt">,
  { place, since, isPublic }: { place: Place; since: number; isPublic: boolean },
): Verdict {
  if (place.kind === "none") return "later";
  if (place.kind === "gate") return isPublic ? "tell" : "later";
  if (place.kind === "lobby") return "tell";
  return since < dueAt ? "told" : "tell";
}
