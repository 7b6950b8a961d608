// The state machine of an account migration (api.md A12, behaviour.md f): pure, the clock is handed in.
//
// initiated    opened in the game; nothing is proved. Every lapsed state counts as this one.
// confirmed    proved in a browser; counts ten minutes, and only for the session that proved it.
// code_issued  a code is out for one named target; counts ten minutes.
// redeeming    the target's code was taken and lifecycle may be moving the servers; told as code_issued. It ends in
//              redeemed, or in code_issued when the target's quota refuses; whoever finds it abandoned carries it on.
// redeemed     the servers are moved and the source is retired, once and for all.

import type { accountMigrations, Role } from "@svc/proto";

export type Migration = {
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
  /** When the target was told that it is done. */
  answeredAt: Date | null;
};

export type At = { now: Date; session: string; confirmTtlMs: number };

/** What an unfinished migration counts as for one session of the source. */
export function stateFor(migration: Migration, at: At): accountMigrations.MigrationState {
  switch (migration.state) {
    case "redeeming":
      return "code_issued";
    case "code_issued":
      return isAfter(migration.codeExpiresAt, at.now) ? "code_issued" : "initiated";
    case "confirmed":
      return isConfirmed(migration, at) ? "confirmed" : "initiated";
    default:
      return "initiated";
  }
}

function isConfirmed({ confirmedAt, confirmSession }: Migration, at: At): boolean {
  if (!confirmedAt || confirmSession !== at.session) return false;
  return confirmedAt.getTime() + at.confirmTtlMs > at.now.getTime();
}

function isAfter(moment: Date | null, now: Date): boolean {
  return moment !== null && moment > now;
}

/** What the source is told of its migration. */
export function toView(migration: Migration | undefined, at: At): accountMigrations.MigrationView {
  if (!migration) return { active: false };
  const state = stateFor(migration, at);
  const { targetUserId, confirmFactor, confirmedAt, codeExpiresAt } = migration;
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

export type StartVerdict = "open" | "migrate_not_linked" | "account_is_retired" | "owner_protected";

/** Whether a player's account may be opened for a migration; an unfinished one is replaced. */
export function decideStart(source: Source | undefined, current: Migration | undefined): StartVerdict {
  if (!source) return "migrate_not_linked";
  if (isRetired(source) || current?.state === "redeeming") return "account_is_retired";
  if (source.role === "owner") return "owner_protected";
  return "open";
}

export type Target = { id: string; disabled: boolean; deletedAt: Date | null };
export type IssueVerdict =
  | "issue"
  | "no_migration"
  | "not_confirmed"
  | "invalid_target"
  | "target_not_found"
  | "target_unavailable";

/** Whether a code for this target may be given out. Without a proof nobody learns which accounts there are. */
export function decideIssue(
  about: { migration: Migration | undefined; sourceUserId: string; targetUserId: string },
  target: Target | undefined,
  at: At,
): IssueVerdict {
  const { migration } = about;
  if (!migration) return "no_migration";
  if (stateFor(migration, at) !== "confirmed") return "not_confirmed";
  if (about.targetUserId === about.sourceUserId) return "invalid_target";
  if (!target) return "target_not_found";
  return isRetired(target) ? "target_unavailable" : "issue";
}

export type RedeemVerdict = "begin" | "carry_on" | "tell" | "busy" | "invalid_code";

/**
 * What a presented code does. `carry_on`: an earlier redemption was abandoned half-way. `tell`: one was finished
 * without the target, whose request had failed by then. A redemption that is being worked on is nobody else's.
 * `busy`: one of the two accounts is giving or getting servers in another one, and might be retired under our feet.
 */
export function decideRedeem(
  migration: Migration | undefined,
  about: { callerId: string; source: Source | undefined; isBusy: boolean; now: Date },
): RedeemVerdict {
  if (migration?.targetUserId !== about.callerId) return "invalid_code";
  switch (migration.state) {
    case "code_issued":
      if (!isAfter(migration.codeExpiresAt, about.now)) return "invalid_code";
      if (!about.source || !mayGive(about.source)) return "invalid_code";
      return about.isBusy ? "busy" : "begin";
    case "redeeming":
      return isAfter(migration.leasedUntil, about.now) ? "invalid_code" : "carry_on";
    case "redeemed":
      return migration.answeredAt ? "invalid_code" : "tell";
    default:
      return "invalid_code";
  }
}

// Nobody's servers are given away after their account was closed, and the owner is changed on the host alone.
function mayGive(source: Source): boolean {
  return !isRetired(source) && source.role !== "owner";
}

function isRetired(account: { disabled: boolean; deletedAt: Date | null }): boolean {
  return account.disabled || account.deletedAt !== null;
}
