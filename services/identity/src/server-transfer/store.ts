// All SQL of server transfers. To change one, lock its source account.

import type { Selectable } from "kysely";
import type { AccountMigrationsTable, IdentityDb, IdentityTrx } from "../database.ts";
import { mintId } from "../secret.ts";
import type { Source, Transfer } from "./policy.ts";

type Row = Selectable<AccountMigrationsTable>;

/** The one mapper from a row. */
export function toTransfer(row: Row): Transfer {
  return {
    id: row.id,
    sourceUserId: row.source_user_id,
    targetUserId: row.target_user_id,
    state: row.state,
    confirmFactor: row.confirm_factor,
    confirmedAt: row.confirmed_at,
    confirmSession: row.confirm_session,
    codeExpiresAt: row.code_expires_at,
    leasedUntil: row.leased_until,
    servers: row.servers,
    answeredAt: row.told_at,
  };
}

/** The transfer of a source that is not redeemed. */
export async function findUnfinished(db: IdentityDb, sourceUserId: string): Promise<Transfer | undefined> {
  const row = await db
    .selectFrom("account_migrations")
    .selectAll()
    .where("source_user_id", "=", sourceUserId)
    .where("state", "<>", "redeemed")
    .executeTakeFirst();
  return row && toTransfer(row);
}

export async function findByCode(db: IdentityDb, codeHash: string): Promise<Transfer | undefined> {
  const row = await db
    .selectFrom("account_migrations")
    .selectAll()
    .where("code_hash", "=", codeHash)
    .executeTakeFirst();
  return row && toTransfer(row);
}

export async function findTransfer(db: IdentityDb, id: string): Promise<Transfer | undefined> {
  const row = await db.selectFrom("account_migrations").selectAll().where("id", "=", id).executeTakeFirst();
  return row && toTransfer(row);
}

type SourceAccount = Source & {
  username: string;
  email: string | null;
  emailVerified: boolean;
  language: "en" | "zh";
};

/** Locks an account, retired or not, and with it its transfer. */
export async function lockSource(trx: IdentityTrx, id: string): Promise<SourceAccount | undefined> {
  const row = await trx
    .selectFrom("users")
    .select(["id", "role", "disabled", "deleted_at", "username", "email", "email_verified", "language"])
    .where("id", "=", id)
    .forUpdate()
    .executeTakeFirst();
  if (!row) return undefined;
  const { deleted_at: deletedAt, email_verified: emailVerified, ...account } = row;
  return { ...account, deletedAt, emailVerified };
}

/** Locks both accounts, always in the same order, so that two transfers never deadlock. */
export async function lockBoth(
  trx: IdentityTrx,
  sourceUserId: string,
  targetUserId: string,
): Promise<{ source: SourceAccount | undefined; target: SourceAccount | undefined }> {
  const found = new Map<string, SourceAccount | undefined>();
  for (const id of [...new Set([sourceUserId, targetUserId])].sort())
    found.set(id, await lockSource(trx, id));
  return { source: found.get(sourceUserId), target: found.get(targetUserId) };
}

type TargetAccount = { id: string; username: string; disabled: boolean; deletedAt: Date | null };

export async function findTarget(db: IdentityDb, id: string): Promise<TargetAccount | undefined> {
  const row = await db
    .selectFrom("users")
    .select(["id", "username", "disabled", "deleted_at"])
    .where("id", "=", id)
    .executeTakeFirst();
  return row && { id: row.id, username: row.username, disabled: row.disabled, deletedAt: row.deleted_at };
}

/** Opens a transfer in place of an unfinished one, whose code becomes invalid. */
export async function openTransfer(
  trx: IdentityTrx,
  { sourceUserId, now }: { sourceUserId: string; now: Date },
): Promise<void> {
  await trx
    .deleteFrom("account_migrations")
    .where("source_user_id", "=", sourceUserId)
    .where("state", "<>", "redeemed")
    .execute();
  await trx
    .insertInto("account_migrations")
    .values({
      id: mintId(),
      source_user_id: sourceUserId,
      state: "initiated",
      created_at: now,
      updated_at: now,
    })
    .execute();
}

type Confirmation = { id: string; factor: "passkey" | "email_otp"; session: string; now: Date };

/** Records the proof of one session and deletes an expired code. */
export async function confirmTransfer(trx: IdentityTrx, proof: Confirmation): Promise<void> {
  await trx
    .updateTable("account_migrations")
    .set({
      state: "confirmed",
      confirm_factor: proof.factor,
      confirmed_at: proof.now,
      confirm_session: proof.session,
      target_user_id: null,
      code_hash: null,
      code_expires_at: null,
      updated_at: proof.now,
    })
    .where("id", "=", proof.id)
    .execute();
}

type IssuedCode = {
  id: string;
  targetUserId: string;
  codeHash: string;
  expiresAt: Date;
  now: Date;
};

export async function saveTransferCode(trx: IdentityTrx, code: IssuedCode): Promise<void> {
  await trx
    .updateTable("account_migrations")
    .set({
      state: "code_issued",
      target_user_id: code.targetUserId,
      code_hash: code.codeHash,
      code_expires_at: code.expiresAt,
      updated_at: code.now,
    })
    .where("id", "=", code.id)
    .execute();
}
