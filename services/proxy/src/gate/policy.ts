// Where a player may go (docs/reference/proxy.md#join). Wrong here means the wrong person in: whatever is not
// known to be right is refused.
// Vocabulary: gate = the login server; target = the server whose subdomain the player typed; released = the service
// said, on this connection, that the player is linked.

import type { ServerInfo } from "@svc/proto";
import type { Limits } from "../limit-settings.ts";
import { joinAddress } from "../registry/join-address.ts";

/** `yes` and `no` are answers; `refused` is a 4xx to us, `silence` no answer or 5xx. */
export type Heard = "yes" | "no" | "refused" | "silence";
/** What the service said when it was asked whether a player is linked, and whether barred. */
export type LinkAnswer = { linked: Heard; barred: Heard };
export type LinkVerdict = "released" | "not_linked" | "barred" | "unknown";

/**
 * Only "linked and not barred" opens the gate. A positive answer is cached for ten minutes while the service is
 * unreachable; any negative answer counts at once, and a refused request is not an outage.
 */
export function linkVerdict(
  { linked, barred }: LinkAnswer,
  linkedAt: number | undefined,
  moment: { now: number; limits: Pick<Limits, "linkMemoryMs"> },
): LinkVerdict {
  if (barred === "yes") return "barred";
  if (linked === "no") return "not_linked";
  if (linked === "refused" || barred === "refused") return "unknown";
  if (linked === "yes" && barred === "no") return "released";
  const age = linkedAt === undefined ? Number.POSITIVE_INFINITY : moment.now - linkedAt;
  return age >= 0 && age < moment.limits.linkMemoryMs ? "released" : "unknown";
}

type AfterGate =
  | { go: "server"; name: string; address: string }
  | { go: "lobby" }
  | { go: "lobby"; wake: string }
  | { go: "lobby"; notice: "serverGone"; name: string };

/** Where a released player goes: to the target when it is ready, else to the lobby, from where it is woken. */
export function afterGate(
  target: string | undefined,
  find: (name: string) => ServerInfo | undefined,
): AfterGate {
  if (target === undefined) return { go: "lobby" };
  const server = find(target);
  if (!server) return { go: "lobby", notice: "serverGone", name: target };
  const address = joinAddress(server);
  return address === undefined ? { go: "lobby", wake: target } : { go: "server", name: target, address };
}

/** The subdomain that a typed host asks for: one label before the root domain; undefined for everything else. */
export function subdomainOf(host: string, rootDomain: string): string | undefined {
  if (rootDomain === "") return undefined;
  // Mod loaders append data after a NUL byte; resolvers may leave the root's dot.
  const name = (host.split("\0")[0] ?? "").replace(/\.$/, "").toLowerCase();
  if (!name.endsWith(`.${rootDomain}`)) return undefined;
  const label = name.slice(0, -rootDomain.length - 1);
  return /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(label) ? label : undefined;
}
