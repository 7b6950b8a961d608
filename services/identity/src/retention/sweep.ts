// Which rows expire (docs/reference/accounts.md#retention, docs/reference/data.md#database); they are deleted in batches, so that no statement runs long.

import { type RawBuilder, sql } from "kysely";
import type { IdentityDb, Tables } from "../database.ts";

const batch = 5_000;
const idleBudgetMs = 3_600_000;
// A share of the mail budget has refilled long before.
const idleMailBudgetMs = 24 * 3_600_000;

export type Ages = {
  /** How long rows are kept after they expired. */
  expiredKeepMs: number;
  /** Null = forever. */
  auditKeepMs: number | null;
};

type Sweep = {
  table: keyof Tables;
  key: string;
  before: Date;
  column: string;
  /** Only rows in one of these states. */
  states?: readonly string[];
};

/** Which rows expire now: those whose `column` is earlier than `before`. */
export function planSweep(now: Date, { expiredKeepMs, auditKeepMs }: Ages): Sweep[] {
  const ago = (ms: number) => new Date(now.getTime() - ms);
  const expired = ago(expiredKeepMs);
  return [
    { table: "sessions", key: "token_hash", column: "expires_at", before: expired },
    { table: "api_tokens", key: "id", column: "expires_at", before: expired },
    { table: "api_tokens", key: "id", column: "revoked_at", before: expired },
    { table: "email_otps", key: "id", column: "expires_at", before: expired },
    { table: "setup_tokens", key: "token_hash", column: "expires_at", before: expired },
    { table: "otp_failure_windows", key: "ctid", column: "window_start", before: expired },
    { table: "otp_reservations", key: "key", column: "free_at", before: now },
    { table: "sign_in_budgets", key: "key", column: "refilled_at", before: ago(idleBudgetMs) },
    { table: "mail_budgets", key: "key", column: "refilled_at", before: ago(idleMailBudgetMs) },
    { table: "op_login_requests", key: "id", column: "expires_at", before: expired },
    { table: "cli_logins", key: "secret_hash", column: "expires_at", before: now },
    { table: "oidc_logins", key: "state_hash", column: "expires_at", before: now },
    { table: "account_link_codes", key: "code_hash", column: "expires_at", before: expired },
    { table: "webauthn_challenges", key: "id", column: "expires_at", before: now },
    { table: "player_data_holds", key: "id", column: "expires_at", before: now },
    {
      table: "account_migrations",
      key: "id",
      column: "updated_at",
      before: expired,
      states: ["initiated", "confirmed", "code_issued"],
    },
    ...(auditKeepMs === null
      ? []
      : [{ table: "audit_logs", key: "id", column: "created_at", before: ago(auditKeepMs) } as const]),
  ];
}

/** Runs a plan and returns how many rows were deleted, by table. Replicas that sweep at once share the work. */
export async function sweep(db: IdentityDb, plan: readonly Sweep[]): Promise<Record<string, number>> {
  const gone: Record<string, number> = {};
  for (const { table, key, column, before, states } of plan) {
    const isMeant = states ? sql`state = any(${states})` : sql`true`;
    const [name, id, age] = [sql.table(table), sql.ref(key), sql.ref(column)];
    for (;;) {
      const deleted = await deleteBatch(
        db,
        sql`delete from ${name} where ${id} in
        (select ${id} from ${name} where ${age} < ${before} and ${isMeant} limit ${batch} for update skip locked)`,
      );
      gone[table] = (gone[table] ?? 0) + deleted;
      if (deleted < batch) break;
    }
  }
  return gone;
}

async function deleteBatch(db: IdentityDb, statement: RawBuilder<unknown>): Promise<number> {
  const { numAffectedRows } = await statement.execute(db);
  return Number(numAffectedRows ?? 0);
}
