// The states of a transfer of all servers of one account to another (docs/reference/server-transfer.md#states). Pure.
//
// initiated    opened in the game; nothing is confirmed. Every state that has expired counts as this one.
// confirmed    confirmed in a browser; counts for ten minutes, and only in that session.
// code_issued  a code for one named target is out; counts for ten minutes.
// redeeming    the target's code was accepted and lifecycle may be transferring the servers; shown as code_issued. It
//              ends in redeemed, or in code_issued when the target's quota refuses; any replica resumes it when its
//              lease has expired.
// redeemed     the servers are transferred and the source is retired, permanently.

import type { accountMigrations, Role } from "@svc/proto";

export type Transfer = {
  id: string;
  sourceUserId: string;
  targetUserId: string | null;
  state: "initiated" | "confirmed" | "code_issued" | "redeeming" | "redeemed";
  confirmFactor: accountMigrations.ConfirmFactor | null;
  confirmedAt: Date | null;
  /** Hash of the session that confirmed. */
  confirmSession: string | null;
  codeExpiresAt: Date | null;
  leasedUntil: Date | null;
  servers: string[] | null;
  /** When the target was told the outcome. */
  answeredAt: Date | null;
};

export type At = { now: Date; session: string; confirmTtlMs: number };

/** What an unfinished transfer counts as for one session of the source. */
export function stateFor(transfer: Transfer, at: At): accountMigrations.MigrationState {
  switch (transfer.state) {
    case "redeeming":
      return "code_issued";
    case "code_issued":
      return isAfter(transfer.codeExpiresAt, at.now) ? "code_issued" : "initiated";
    case "confirmed":
      return isConfirmed(transfer, at) ? "confirmed" : "initiated";
    default:
      return "initiated";
  }
}

function isConfirmed({ confirmedAt, confirmSession }: Transfer, at: At): boolean {
  if (!confirmedAt || confirmSession !== at.session) return false;
  return confirmedAt.getTime() + at.confirmTtlMs > at.now.getTime();
}

export function isAfter(moment: Date | null, now: Date): boolean {
  return moment !== null && moment > now;
}

/** The view that the source gets of its transfer. */
export function toView(transfer: Transfer | undefined, at: At): accountMigrations.MigrationView {
  if (!transfer) return { active: false };
  const state = stateFor(transfer, at);
  const { targetUserId, confirmFactor, confirmedAt, codeExpiresAt } = transfer;
  if (state === "initiated") return { active: true, state };
  const factor = { ...(confirmFactor && { confirm_factor: confirmFactor }) };
  if (state === "confirmed" && confirmedAt) {
    const until = new Date(confirmedAt.getTime() + at.confirmTtlMs);
    return { active: true, state, ...factor, confirm_expires_at: until.toISOString() };
  }
  return {
    active: true,
    state,
    ...factor,
    ...(targetUserId && { target_user_id: targetUserId }),
    ...(codeExpiresAt && { code_expires_at: codeExpiresAt.toISOString() }),
  };
}

export type Source = { id: string; role: Role; disabled: boolean; deletedAt: Date | null };

type StartVerdict = "open" | "migrate_not_linked" | "account_is_retired" | "owner_protected";

/** Whether a transfer may be opened for a player's account; an unfinished one is replaced. */
export function decideStart(source: Source | undefined, current: Transfer | undefined): StartVerdict {
  if (!source) return "migrate_not_linked";
  if (isRetired(source) || current?.state === "redeeming") return "account_is_retired";
  if (source.role === "owner") return "owner_protected";
  return "open";
}

export type Target = { id: string; disabled: boolean; deletedAt: Date | null };
type IssueVerdict =
  | "issue"
  | "no_migration"
  | "not_confirmed"
  | "invalid_target"
  | "target_not_found"
  | "target_unavailable";

/** Whether a code for this target may be issued. Without a proof nothing is revealed about accounts. */
export function decideIssue(
  about: { transfer: Transfer | undefined; sourceUserId: string; targetUserId: string },
  target: Target | undefined,
  at: At,
): IssueVerdict {
  const { transfer } = about;
  if (!transfer) return "no_migration";
  if (stateFor(transfer, at) !== "confirmed") return "not_confirmed";
  if (about.targetUserId === about.sourceUserId) return "invalid_target";
  if (!target) return "target_not_found";
  return isRetired(target) ? "target_unavailable" : "issue";
}

// A retired account transfers nothing, and the owner account is changed on the host alone.
export function mayGive(source: Source): boolean {
  return !isRetired(source) && source.role !== "owner";
}

function isRetired(account: { disabled: boolean; deletedAt: Date | null }): boolean {
  return account.disabled || account.deletedAt !== null;
}
