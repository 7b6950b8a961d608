// The source's side in the browser: its state, and a code for the target (docs/reference/server-transfer.md#states).

import type { Handler } from "@svc/mesh";
import { type AccountPrincipal, type accountMigrations, Fault } from "@svc/proto";
import { recordAudit } from "../audit/record.ts";
import type { Deps } from "../deps.ts";
import { hashBindCode, mintBindCode } from "../link/code.ts";
import type { MailQueue } from "../mail/queue.ts";
import { getAccount } from "../principal.ts";
import { type At, decideIssue, toView } from "./policy.ts";
import { findTarget, findUnfinished, lockSource, saveTransferCode } from "./store.ts";

/** Now, as a session of the source sees it. */
export function atOf(deps: Pick<Deps, "now" | "limits">, caller: AccountPrincipal): At {
  return { now: deps.now(), session: caller.session, confirmTtlMs: deps.limits.migration_confirm_ttl };
}

/** identity.account-transfer.read */
export function createRead(deps: Deps): Handler<typeof accountMigrations.read> {
  return async ({ principal }) => {
    const caller = getAccount(principal);
    return toView(await findUnfinished(deps.db, caller.user_id), atOf(deps, caller));
  };
}

/** identity.account-transfer.issue-code */
export function createIssueCode(
  deps: Deps & { mailQueue: MailQueue },
): Handler<typeof accountMigrations.issueCode> {
  const { mailQueue } = deps;
  return async (context, { target_user_id: targetUserId }) => {
    const caller = getAccount(context.principal);
    const issued = await deps.db.transaction().execute(async (trx) => {
      const at = atOf(deps, caller);
      const source = await lockSource(trx, caller.user_id);
      if (!source || source.disabled || source.deletedAt) throw new Fault("unauthorized");
      const transfer = await findUnfinished(trx, source.id);
      const target = await findTarget(trx, targetUserId);
      const verdict = decideIssue({ transfer, sourceUserId: source.id, targetUserId }, target, at);
      if (verdict !== "issue") throw context.fault(verdict);
      if (!transfer || !target) throw context.fault("internal");
      const code = mintBindCode();
      const expiresAt = new Date(at.now.getTime() + deps.limits.migration_code_ttl);
      const codeHash = hashBindCode(code);
      await saveTransferCode(trx, { id: transfer.id, targetUserId, codeHash, expiresAt, now: at.now });
      if (source.emailVerified && source.email !== null) {
        const validMinutes = Math.ceil(deps.limits.migration_code_ttl / 60_000);
        const facts = { target: target.username, validMinutes };
        const { email: to, language } = source;
        await mailQueue.add(trx, { kind: "migration_issued", to, language, facts });
      }
      const payload = { target_user_id: targetUserId };
      await recordAudit(trx, context, { action: "account.migrate.issue_code", payload });
      return { code, expires_at: expiresAt.toISOString() };
    });
    mailQueue.wake();
    return issued;
  };
}
