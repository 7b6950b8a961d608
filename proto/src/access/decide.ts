// Who may do what at a server: the one decision behind every operation about a server
// (docs/reference/shared-access.md#decision). Pure, and closed unless something opens it.

import type { AccountPrincipal, Principal } from "../envelope.ts";
import { carries, type MemberRight, reaches } from "../right.ts";
import { isCommandAllowed } from "./command-limit.ts";
import type { Grant, MemberFacts } from "./grant.ts";
import { isWithin, readers, reveals, writers } from "./path-limit.ts";

/** What is known of a server when somebody asks for something. */
export type SharedServer = {
  name: string;
  ownerId: string | undefined;
  members: readonly MemberFacts[];
};

export type Asked = {
  /** All of them; `owner`: nothing that can be shared. */
  rights: readonly MemberRight[] | "owner";
  /** Whether an API token may ask for it at all; absent: none may. */
  takesTokens?: boolean;
  /**
   * The line that is sent to the game, null when none is; with `command` a limited member is refused while it is not
   * known.
   */
  command?: string | null;
  /**
   * Normalized paths that are read or changed, also in or from a backup. With a right that reaches files a limited member
   * is refused without a list: then all of the world is meant.
   */
  reads?: readonly string[];
  writes?: readonly string[];
  /** What is taken away from a path, or out of the archive there, and where it comes to lie. */
  moves?: { from: string; to: string };
  /** True where staff have an operation of their own for it (docs/reference/claims.md#settings). */
  isClosedToStaff?: boolean;
};

export type Refusal =
  /** Nobody who is signed in. */
  | "no_account"
  /** The API token is not for this server, or lacks a right. */
  | "token"
  /** Neither owner nor member. */
  | "not_shared"
  | "expired"
  | "owner_only"
  | "right"
  | "command"
  | "path";

export type Verdict =
  | { isAllowed: true; as: "owner" | "staff" | "member" }
  | { isAllowed: false; refusal: Refusal; message: string };

/** `now`: unix milliseconds. */
export function decideAccess(
  principal: Principal,
  server: SharedServer,
  asked: Asked & { now: number },
): Verdict {
  if (principal.kind !== "account") return refused("no_account");
  if (principal.token && !isWithinToken(principal, server, asked)) return refused("token");
  if (server.ownerId !== undefined && principal.user_id === server.ownerId)
    return { isAllowed: true, as: "owner" };
  if (principal.staff && !asked.isClosedToStaff) return { isAllowed: true, as: "staff" };
  const member = liveMember(principal.user_id, server, asked.now);
  if (typeof member === "string") return refused(member);
  const refusal = refusalOf(member, asked);
  return refusal ? refused(refusal) : { isAllowed: true, as: "member" };
}

// What only the owner may do takes no token (docs/reference/api-tokens.md#reach).
function isWithinToken(
  principal: AccountPrincipal,
  { name }: SharedServer,
  { rights, takesTokens = false }: Asked,
): boolean {
  if (!takesTokens || rights === "owner") return false;
  return reaches(principal, name) && rights.every((right) => carries(principal, right));
}

/** A member of a server that has an owner; without one nobody is left who could have shared it. */
function liveMember(
  userId: string,
  { ownerId, members }: SharedServer,
  now: number,
): MemberFacts | "not_shared" | "expired" {
  const member = ownerId === undefined ? undefined : members.find(({ user_id }) => user_id === userId);
  if (!member) return "not_shared";
  return isLive(member, now) ? member : "expired";
}

/** Whether an access has not ended; an end that cannot be read is over. */
export function isLive({ ends_at }: Pick<Grant, "ends_at">, now: number): boolean {
  return ends_at === undefined || Date.parse(ends_at) > now;
}

function refusalOf({ rights, limits = {} }: Grant, asked: Asked): Refusal | undefined {
  if (asked.rights === "owner" || asked.rights.length === 0) return "owner_only";
  if (asked.rights.some((right) => !rights.includes(right))) return "right";
  const asks = (right: MemberRight) => asked.rights.includes(right as never);
  if (readers.some(asks) && !arePathsOpen(asked.reads, limits.read_paths)) return "path";
  if (writers.some(asks) && !arePathsOpen(asked.writes, limits.write_paths)) return "path";
  if (asked.moves && reveals(asked.moves, limits.read_paths)) return "path";
  const { allow_commands: allow, deny_commands: deny = [] } = limits;
  if (!asks("command") || (allow === undefined && deny.length === 0)) return undefined;
  const { command } = asked;
  if (command === null || (command !== undefined && isCommandAllowed(command, limits))) return undefined;
  return "command";
}

function arePathsOpen(
  paths: readonly string[] | undefined,
  prefixes: readonly string[] | undefined,
): boolean {
  if (prefixes === undefined) return true;
  return paths?.every((path) => isWithin(path, prefixes)) === true;
}

const messages: Record<Refusal, string> = {
  no_account: "Sign in to do this.",
  token: "This API token does not have the right for this at this server; make one that has.",
  not_shared: "Only the owner of a server may do this, and those whom the owner shares it with.",
  expired: "Your access to this server has ended; ask its owner for a new invitation.",
  owner_only: "Only the owner of a server may do this.",
  right: "Your access to this server does not include this; ask its owner.",
  command: "Your access to this server does not include this command; ask its owner.",
  path: "Your access to this server is limited to some files and folders, and this reaches others; ask its owner.",
};

function refused(refusal: Refusal): Verdict {
  return { isAllowed: false, refusal, message: messages[refusal] };
}
