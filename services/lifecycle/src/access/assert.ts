// Whether a caller may do something at a server (docs/reference/shared-access.md#decision). Pure but for the clock.

import {
  type AccountPrincipal,
  type AnyContract,
  type Asked,
  askedBy,
  decideAccess,
  Fault,
  type MemberRight,
  type Principal,
} from "@svc/proto";
import { type ServerRow, sharedOf } from "../database/server-row.ts";

type Request = {
  name: string;
  row: ServerRow | undefined;
  /** The operation, whose contract says what it asks for. */
  to: Pick<AnyContract, "http">;
} & Omit<Asked, "rights" | "takesTokens">;

/** As what the caller may do this; throws `forbidden` and says why not. */
export function assertAccess(
  { principal }: { principal: Principal },
  { name, row, to, ...details }: Request,
): "owner" | "staff" | "member" {
  const asked = { ...details, ...askedBy(to), now: Date.now() };
  const verdict = decideAccess(principal, sharedOf(name, row), asked);
  if (verdict.isAllowed) return verdict.as;
  throw new Fault("forbidden", { message: verdict.message });
}

/** Whether a caller may know of a file of a server's world. */
export function mayReadFile(
  { principal }: { principal: Principal },
  { name, row, path }: Pick<Request, "name" | "row"> & { path: string },
): boolean {
  const asked = { rights: ["files.read"], takesTokens: true, reads: [path], now: Date.now() } as const;
  return decideAccess(principal, sharedOf(name, row), asked).isAllowed;
}

/** Whether the caller may do this, for an answer that has more for those who may. */
export function mayDo(
  { principal }: { principal: Principal },
  { name, row, to }: Pick<Request, "name" | "row" | "to">,
): boolean {
  return decideAccess(principal, sharedOf(name, row), { ...askedBy(to), now: Date.now() }).isAllowed;
}

/** Whether an account has a right at a server, by ownership or as a member; for players, who have no session. */
export function hasRight(
  accountId: string,
  { name, row }: Pick<Request, "name" | "row">,
  right: MemberRight,
): boolean {
  const asked = { rights: [right], now: Date.now() };
  return decideAccess(principalOf(accountId), sharedOf(name, row), asked).isAllowed;
}

function principalOf(user_id: string): AccountPrincipal {
  return { kind: "account", user_id, username: "", role: "user", staff: false, setup: false, session: "" };
}
