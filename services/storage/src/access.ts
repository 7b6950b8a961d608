// Who may do what with worlds and backups (docs/reference/shared-access.md#decision). Pure but for the clock.

import {
  type AnyContract,
  type Asked,
  askedBy,
  decideAccess,
  Fault,
  isNameShape,
  isUserName,
  type Principal,
  type SharedServer,
  type Verdict,
  type worlds,
} from "@svc/proto";

/** A world as lifecycle describes it, and whom it is shared with. */
type Shared = Pick<worlds.WorldServer, "name" | "owner_id" | "members">;

/** What is asked for: the operation, whose contract has the rights, and the paths that limits are about. */
export type Wanted = { to: Pick<AnyContract, "http"> } & Pick<Asked, "reads" | "writes" | "moves">;

function decide(principal: Principal, world: Shared, { to, ...paths }: Wanted): Verdict {
  return decideAccess(principal, sharedOf(world), { ...paths, ...askedBy(to), now: Date.now() });
}

function sharedOf({ name, owner_id: ownerId, members = [] }: Shared): SharedServer {
  return { name, ownerId, members };
}

/** Whether the caller may do this with a world: its owner, a member, staff, and the platform itself. */
export function mayAccess(principal: Principal, world: Shared, wanted: Wanted): boolean {
  return principal.kind === "service" || decide(principal, world, wanted).isAllowed;
}

/** Throws `forbidden`, and `path_not_shared` for what is outside of the paths of a member. */
export function assertMayAccess(principal: Principal, world: Shared, wanted: Wanted): void {
  if (principal.kind === "service") return;
  const verdict = decide(principal, world, wanted);
  if (verdict.isAllowed) return;
  throw new Fault(verdict.refusal === "path" ? "path_not_shared" : "forbidden", { message: verdict.message });
}

/** Throws `bad_name` for a name that no user server can have (docs/reference/server-resource.md#names). */
export function assertUserName(name: string): void {
  if (!isUserName(name)) throw new Fault("bad_name");
}

/** As `assertUserName`, but accepts names of system servers. */
export function assertAnyName(name: string): void {
  if (!isNameShape(name)) throw new Fault("bad_name");
}

export function isStaff(principal: Principal): boolean {
  return principal.kind === "account" && principal.staff;
}

export type Scope =
  | { kind: "all" }
  /** `servers`: only backups of these; absent: of any. */
  | {
      kind: "owner";
      userId: string;
      servers?: readonly string[];
      /** Beside its own: backups of servers that their owners share with it. */
      shared?: readonly { server: string; owner: string }[];
    }
  | { kind: "none" };

/**
 * Which backups a caller may use by itself: staff all, an account those of worlds it owned when they were made, with an API
 * token for some servers only theirs.
 */
export function scopeOf(principal: Principal): Scope {
  if (principal.kind === "service") return { kind: "all" };
  if (principal.kind !== "account") return { kind: "none" };
  const { staff, user_id: userId, token } = principal;
  if (staff) return { kind: "all" };
  return { kind: "owner", userId, ...(token?.servers && { servers: token.servers }) };
}

/** Which backups of a world a caller may use for this: a member those of its owner. */
export function scopeAt(principal: Principal, world: Shared, wanted: Wanted): Scope {
  if (principal.kind === "service") return { kind: "all" };
  const verdict = decide(principal, world, wanted);
  if (!verdict.isAllowed) return { kind: "none" };
  if (verdict.as !== "member") return scopeOf(principal);
  const { name, owner_id } = world;
  return owner_id === undefined ? { kind: "none" } : { kind: "owner", userId: owner_id, servers: [name] };
}
