// All SQL of sessions.

import { accounts, type Client } from "@svc/proto";
import { outboxRow } from "@svc/store";
import { type Selectable, sql } from "kysely";
import type { IdentityDb, IdentityTrx, SessionDoor, SessionsTable } from "../database.ts";
import { mintToken, sha256 } from "../secret.ts";
import { type SessionFacts, truncateAddress, truncateUserAgent } from "./policy.ts";

// PostgreSQL takes 65,535 parameters in a statement.
const outboxBatch = 1_000;

type FoundSession = SessionFacts & {
  userId: string;
  username: string;
  emailVerified: boolean;
  /** Read for staff only, whose setup depends on it. */
  hasPasskey: boolean;
  isPasswordDoorOpen: boolean;
};

/** A session with its account, in one statement: the most frequent query of the service. */
export async function findSession(db: IdentityDb, tokenHash: string): Promise<FoundSession | undefined> {
  const row = await db
    .selectFrom("sessions as s")
    .innerJoin("users as u", "u.id", "s.user_id")
    .where("s.token_hash", "=", tokenHash)
    .select(["s.user_id", "s.door", "s.host", "s.expires_at", "s.revoked_at", "s.last_seen_at"])
    .select(["u.username", "u.role", "u.disabled", "u.deleted_at", "u.email_verified"])
    .select(
      sql<boolean>`u.role <> 'user' and exists (
        select from webauthn_credentials as c where c.user_id = u.id)`.as("has_passkey"),
    )
    .select(
      sql<boolean | null>`(select value = 'true'::jsonb from platform_settings
      where key = 'local_auth_enabled')`.as("is_password_door_open"),
    )
    .executeTakeFirst();
  return (
    row && {
      userId: row.user_id,
      username: row.username,
      emailVerified: row.email_verified,
      hasPasskey: row.has_passkey,
      isPasswordDoorOpen: row.is_password_door_open ?? false,
      door: row.door,
      host: row.host,
      expiresAt: row.expires_at,
      revokedAt: row.revoked_at,
      lastSeenAt: row.last_seen_at,
      role: row.role,
      disabled: row.disabled,
      deletedAt: row.deleted_at,
    }
  );
}

/** Records that a live session was seen, unless another replica just did. */
export async function recordSeen(
  db: IdentityDb,
  about: { tokenHash: string; now: Date; lastSeenAt: Date },
): Promise<void> {
  await db
    .updateTable("sessions")
    .set({ last_seen_at: about.now })
    .where("token_hash", "=", about.tokenHash)
    .where("last_seen_at", "=", about.lastSeenAt)
    .where("revoked_at", "is", null)
    .execute();
}

type NewSession = {
  userId: string;
  door: SessionDoor;
  client: Client;
  now: Date;
  ttlMs: number;
  /** Whether this way of signing in counts as a proof (a bind code does not). */
  isProof: boolean;
};

/** Creates a session; its value goes to the browser and is not stored. The account takes over the language of the client. */
export async function createSession(
  trx: IdentityTrx,
  session: NewSession,
): Promise<{ value: string; tokenHash: string; expiresAt: Date }> {
  const value = mintToken();
  const tokenHash = sha256(value);
  const expiresAt = new Date(session.now.getTime() + session.ttlMs);
  await trx
    .insertInto("sessions")
    .values({
      token_hash: tokenHash,
      user_id: session.userId,
      door: session.door,
      host: session.client.host ?? "player",
      created_at: session.now,
      expires_at: expiresAt,
      last_seen_at: session.now,
      user_agent: truncateUserAgent(session.client.userAgent),
      client_ip: truncateAddress(session.client.address),
      reauth_at: session.isProof ? session.now : null,
    })
    .execute();
  await rememberLanguage(trx, session);
  return { value, tokenHash, expiresAt };
}

async function rememberLanguage(trx: IdentityTrx, { userId, client }: NewSession): Promise<void> {
  const { language } = client;
  if (language === undefined) return;
  await trx
    .updateTable("users")
    .set({ language })
    .where("id", "=", userId)
    .where("language", "<>", language)
    .execute();
}

/** The live sessions of an account, most recently seen first, at most `limit`. */
export function listLive(
  db: IdentityDb,
  about: { userId: string; now: Date; limit: number },
): Promise<Selectable<SessionsTable>[]> {
  return db
    .selectFrom("sessions")
    .selectAll()
    .where("user_id", "=", about.userId)
    .where("revoked_at", "is", null)
    .where("expires_at", ">", about.now)
    .orderBy("last_seen_at", "desc")
    .orderBy("token_hash")
    .limit(about.limit)
    .execute();
}

type Revoking = {
  userId: string;
  now: Date;
  /** Only this one; all of the account when absent. */
  only?: string;
  /** All but this one. */
  except?: string;
  /** Only those created through this door. */
  door?: SessionDoor;
};

/** Ends live sessions and announces it in the same transaction. Returns how many there were. */
export async function revokeSessions(trx: IdentityTrx, about: Revoking): Promise<number> {
  let query = trx
    .updateTable("sessions")
    .set({ revoked_at: about.now })
    .where("user_id", "=", about.userId)
    .where("revoked_at", "is", null)
    .where("expires_at", ">", about.now);
  if (about.only !== undefined) query = query.where("token_hash", "=", about.only);
  if (about.except !== undefined) query = query.where("token_hash", "<>", about.except);
  if (about.door !== undefined) query = query.where("door", "=", about.door);
  const ended = await query.returning("token_hash").execute();
  if (ended.length === 0) return 0;
  const at = about.now.toISOString();
  const rows = ended.map(({ token_hash }) =>
    outboxRow(accounts.sessionRevoked, { hash: token_hash, user_id: about.userId, at }),
  );
  await trx.insertInto("outbox").values(rows).execute();
  return ended.length;
}

/** Ends one session by the hash of its cookie, live or not, and returns whose it was. */
export async function endSession(
  trx: IdentityTrx,
  about: { hash: string; now: Date },
): Promise<{ count: number; userId?: string; username?: string }> {
  const owner = await trx
    .selectFrom("sessions as s")
    .innerJoin("users as u", "u.id", "s.user_id")
    .where("s.token_hash", "=", about.hash)
    .select(["u.id", "u.username"])
    .executeTakeFirst();
  if (!owner) return { count: 0 };
  const count = await revokeSessions(trx, { userId: owner.id, only: about.hash, now: about.now });
  return { count, userId: owner.id, username: owner.username };
}

/**
 * Makes the gateways forget the sessions from sign-ins with a password and end their streams. The sessions are not ended: while
 * that is switched off they are rejected with that reason.
 */
export async function announcePasswordOff(trx: IdentityTrx, now: Date): Promise<void> {
  const shut = await trx
    .selectFrom("sessions")
    .where("door", "=", "password")
    .where("revoked_at", "is", null)
    .where("expires_at", ">", now)
    .select(["token_hash", "user_id"])
    .execute();
  const at = now.toISOString();
  for (let start = 0; start < shut.length; start += outboxBatch) {
    const rows = shut
      .slice(start, start + outboxBatch)
      .map(({ token_hash: hash, user_id }) => outboxRow(accounts.sessionRevoked, { hash, user_id, at }));
    await trx.insertInto("outbox").values(rows).execute();
  }
}

/** When the session last proved itself; null for an ended one. */
export async function findReauthAt(db: IdentityDb, tokenHash: string): Promise<Date | null> {
  const row = await db
    .selectFrom("sessions")
    .select("reauth_at")
    .where("token_hash", "=", tokenHash)
    .where("revoked_at", "is", null)
    .executeTakeFirst();
  return row?.reauth_at ?? null;
}

/** False when the session has ended. */
export async function recordProof(
  trx: IdentityTrx,
  about: { tokenHash: string; now: Date },
): Promise<boolean> {
  const noted = await trx
    .updateTable("sessions")
    .set({ reauth_at: about.now })
    .where("token_hash", "=", about.tokenHash)
    .where("revoked_at", "is", null)
    .where("expires_at", ">", about.now)
    .executeTakeFirst();
  return noted.numUpdatedRows > 0n;
}
