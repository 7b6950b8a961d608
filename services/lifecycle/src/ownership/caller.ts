// Who asks, as far as ownership is concerned. Pure.

import type { Principal } from "@svc/proto";
import type { ServerRow } from "../database/server-row.ts";

export type Caller = { accountId: string | undefined; isStaff: boolean };

export function callerOf({ principal }: { principal: Principal }): Caller {
  return principal.kind === "account"
    ? { accountId: principal.user_id, isStaff: principal.staff }
    : { accountId: undefined, isStaff: false };
}

function isOwner(row: ServerRow | undefined, caller: Caller): boolean {
  return caller.accountId !== undefined && row?.ownerId === caller.accountId;
}

/** Owner or staff: what is never shared (docs/reference/shared-access.md#rights). */
export function mayManage(row: ServerRow | undefined, caller: Caller): boolean {
  return caller.isStaff || isOwner(row, caller);
}
