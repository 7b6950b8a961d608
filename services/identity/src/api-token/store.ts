// All SQL of API tokens. Those that may call with one are found by the SHA-256 of its secret.

import { accounts, type apiTokens, Right } from "@svc/proto";
import { outboxRow } from "@svc/store";
import type { Selectable } from "kysely";
import type { ApiTokensTable, IdentityDb, IdentityTrx } from "../database.ts";
import { truncateAddress } from "../session/policy.ts";

type Row = Selectable<ApiTokensTable>;
type NewToken = Pick<Row, "id" | "user_id" | "name" | "token_hash" | "rights" | "servers"> & {
  created_at: Date;
  expires_at: Date;
  ssh_key_id?: string;
};

export async function insertToken(trx: IdentityTrx, token: NewToken): Promise<apiTokens.ApiToken> {
  const row = await trx.insertInto("api_tokens").values(token).returningAll().executeTakeFirstOrThrow();
  return toTokenView(row);
}

/** How many tokens of an account are valid; sessions of SFTP have a limit of their own. */
export async function countLiveTokens(
  db: IdentityDb,
  { userId, now }: { userId: string; now: Date },
): Promise<number> {
  const { count } = await db
    .selectFrom("api_tokens")
    .select((row) => row.fn.countAll<string>().as("count"))
    .where("user_id", "=", userId)
    .where("ssh_key_id", "is", null)
    .where("revoked_at", "is", null)
    .where("expires_at", ">", now)
    .executeTakeFirstOrThrow();
  return Number(count);
}

const mostListed = 500;

/** Tokens of an account that are not revoked, newest first. */
export async function listTokens(db: IdentityDb, userId: string): Promise<apiTokens.ApiToken[]> {
  const rows = await db
    .selectFrom("api_tokens")
    .selectAll()
    .where("user_id", "=", userId)
    .where("ssh_key_id", "is", null)
    .where("revoked_at", "is", null)
    .orderBy("created_at", "desc")
    .orderBy("id")
    .limit(mostListed)
    .execute();
  return rows.map(toTokenView);
}

/** The one mapper from a row. */
function toTokenView(row: Row): apiTokens.ApiToken {
  return {
    id: row.id,
    name: row.name,
    rights: knownRights(row.rights),
    ...(row.servers && { servers: row.servers }),
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
    ...(row.last_used_at && { last_used_at: row.last_used_at.toISOString() }),
    ...(row.last_used_ip !== null && { last_used_ip: row.last_used_ip }),
  };
}

/** A right that a newer release knew is none here. */
function knownRights(given: readonly string[]): Right[] {
  return given.flatMap((right) => Right.safeParse(right).data ?? []);
}

export async function findToken(db: IdentityDb, hash: string) {
  const row = await db
    .selectFrom("api_tokens as t")
    .innerJoin("users as u", "u.id", "t.user_id")
    .where("t.token_hash", "=", hash)
    .selectAll("t")
    .select(["u.username", "u.role", "u.disabled", "u.deleted_at", "u.email_verified"])
    .executeTakeFirst();
  if (!row) return undefined;
  const { id, rights, servers } = row;
  return {
    id,
    userId: row.user_id,
    username: row.username,
    role: row.role,
    emailVerified: row.email_verified,
    grant: { id, rights: knownRights(rights), ...(servers && { servers }) },
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    disabled: row.disabled,
    deletedAt: row.deleted_at,
    lastUse: { at: row.last_used_at, address: row.last_used_ip },
  };
}

export async function recordUse(
  db: IdentityDb,
  { id, now, address }: { id: string; now: Date; address: string },
): Promise<void> {
  await db
    .updateTable("api_tokens")
    .set({ last_used_at: now, last_used_ip: truncateAddress(address) })
    .where("id", "=", id)
    .execute();
}

type Revoked = { id: string; name: string };

/** Ends tokens that are not revoked yet and announces it in the same transaction; `only`: this one alone. */
export async function revokeTokens(
  trx: IdentityTrx,
  { userId, now, only }: { userId: string; now: Date; only?: string },
): Promise<Revoked[]> {
  let query = trx
    .updateTable("api_tokens")
    .set({ revoked_at: now })
    .where("user_id", "=", userId)
    .where("revoked_at", "is", null);
  if (only !== undefined) query = query.where("id", "=", only).where("ssh_key_id", "is", null);
  const ended = await query.returning(["id", "name", "token_hash"]).execute();
  if (ended.length === 0) return [];
  const at = now.toISOString();
  const rows = ended.map(({ token_hash: hash }) =>
    outboxRow(accounts.sessionRevoked, { hash, user_id: userId, at }),
  );
  await trx.insertInto("outbox").values(rows).execute();
  return ended.map(({ id, name }) => ({ id, name }));
}
