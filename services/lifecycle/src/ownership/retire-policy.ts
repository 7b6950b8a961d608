// Who may give a server up or delete it, and who may cancel that (docs/reference/claims.md#retirement, docs/reference/claims.md#claim). Pure.

import type { RetireState } from "@svc/proto";
import type { ServerRow } from "../database/server-row.ts";
import { type Caller, mayManage } from "./caller.ts";

type RetireRefusal = { fault: "forbidden" | "confirm_mismatch"; message?: string };

const notManager: RetireRefusal = {
  fault: "forbidden",
  message: "Only the owner of a server, or staff, may give it up.",
};

/** Whether this caller may retire a server. */
export function refusalOfRetiring(
  row: ServerRow | undefined,
  caller: Caller,
  asked: { name: string; confirm: string; isDeletion: boolean },
): RetireRefusal | undefined {
  if (!mayManage(row, caller)) return notManager;
  if (asked.isDeletion && !caller.isStaff) {
    return { fault: "forbidden", message: "Only staff may delete a server; omit delete to give it up." };
  }
  return asked.confirm === asked.name ? undefined : { fault: "confirm_mismatch" };
}

/** What is pending after a request: the time of the first one stays, and a deletion stays a deletion. */
export function retireStateOf(before: RetireState | undefined, isDeletion: boolean, now: Date): RetireState {
  return {
    requested_at: before?.requested_at ?? now.toISOString(),
    delete: isDeletion || before?.delete === true,
  };
}

/** Whether this caller may cancel a pending retirement. */
export function refusalOfCancelling(row: ServerRow | undefined, caller: Caller): RetireRefusal | undefined {
  if (!mayManage(row, caller)) return notManager;
  if (row?.retiring?.delete !== true || caller.isStaff) return undefined;
  return { fault: "forbidden", message: "Staff requested this deletion, so only staff can cancel it." };
}
