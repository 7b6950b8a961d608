// The in-game side of an operator login: listing, reading and approving requests (docs/reference/sign-in.md#operator-login).

import type { Handler } from "@svc/mesh";
import type { signIn } from "@svc/proto";
import { recordAudit } from "../../audit/record.ts";
import type { Deps } from "../../deps.ts";
import { findApprover, findPending, listPending, lockPending, saveApproval } from "./store.ts";

/** identity.op-login.list-pending */
export function createListPending({ db, limits, now }: Deps): Handler<typeof signIn.listPendingOpLogins> {
  return async () => {
    const rows = await listPending(db, { now: now(), limit: limits.op_login_list_limit });
    return {
      pending: rows.map(({ id, username, email, client_ip, created_at }) => ({
        ...{ request_id: id, username, email, client_ip },
        created_at: created_at.toISOString(),
      })),
    };
  };
}

/** identity.op-login.read: for staff only, who must see what they are about to approve. */
export function createReadOpLogin({ db, now }: Deps): Handler<typeof signIn.readOpLogin> {
  return async (context, { id, approver_uuid: approverUuid }) => {
    if (!(await findApprover(db, approverUuid))) throw context.fault("not_admin");
    const found = await findPending(db, { id, now: now() });
    if (!found) throw context.fault("op_login_not_found");
    const { username, email, client_ip, user_agent, created_at, expires_at } = found;
    return {
      ...{ request_id: id, username, email, client_ip, user_agent },
      created_at: created_at.toISOString(),
      expires_at: expires_at.toISOString(),
    };
  };
}

/** identity.op-login.approve: the approver repeats the account's name; a mismatch leaves the request pending. */
export function createApproveOpLogin(deps: Deps): Handler<typeof signIn.approveOpLogin> {
  return async (context, { id, approver_uuid: approverUuid, username }) => {
    const { request, isMatch } = await deps.db.transaction().execute(async (trx) => {
      const approver = await findApprover(trx, approverUuid);
      if (!approver) throw context.fault("not_admin");
      const request = await lockPending(trx, { id, now: deps.now() });
      if (!request) throw context.fault("op_login_not_found");
      const isMatch = isSameName(request.username, username);
      if (isMatch) await saveApproval(trx, { id, approverId: approver.id, now: deps.now() });
      const subject = { userId: approver.id, username: approver.username };
      const action = `auth.op_login.${isMatch ? "approve" : "mismatch"}`;
      await recordAudit(trx, context, { action, ...subject, payload: { op_login: id } });
      return { request, isMatch };
    });
    if (!isMatch) throw context.fault("op_login_mismatch");
    return { approved: true, username: request.username, email: request.email };
  };
}

function isSameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.trim().toLowerCase();
}
