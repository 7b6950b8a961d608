import { Fault, isNameShape, isUserName, type Principal, reaches } from "@svc/proto";

type Owned = { name: string; owner_id?: string | undefined };

/** Whether the caller may access a world: its owner, as far as an API token reaches, staff, and the platform itself. */
export function mayAccess(principal: Principal, world: Owned): boolean {
  if (principal.kind === "service") return true;
  if (principal.kind !== "account" || !reaches(principal, world.name)) return false;
  return principal.staff || (world.owner_id !== undefined && principal.user_id === world.owner_id);
}

export function assertMayAccess(principal: Principal, world: Owned): void {
  if (mayAccess(principal, world)) return;
  throw new Fault("forbidden", { message: "Only the owner of a server may do this." });
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
  | { kind: "owner"; userId: string; servers?: readonly string[] }
  | { kind: "none" };

/**
 * Which backups a caller may use: staff all, an account those of worlds it owned when they were made, with an API token
 * for some servers only theirs.
 */
export function scopeOf(principal: Principal): Scope {
  if (principal.kind === "service") return { kind: "all" };
  if (principal.kind !== "account") return { kind: "none" };
  const { staff, user_id: userId, token } = principal;
  if (staff) return { kind: "all" };
  return { kind: "owner", userId, ...(token?.servers && { servers: token.servers }) };
}
