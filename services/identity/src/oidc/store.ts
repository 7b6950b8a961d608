// All SQL of logins at providers and of external identities. Locks are taken in the order account, identity.

import type { Client } from "@svc/proto";
import { type Selectable, sql } from "kysely";
import type { ExternalIdentitiesTable, IdentityDb, IdentityTrx, OidcLoginsTable } from "../database.ts";
import { mintId, sha256 } from "../secret.ts";
import type { Challenge } from "./provider.ts";

type NewLogin = Challenge & {
  secret: string;
  issuer: string;
  client: Client;
  network: string;
  /** Who links an identity, in which session. */
  linking?: { userId: string; session: string } | undefined;
  now: Date;
  expiresAt: Date;
};

export async function insertLogin(trx: IdentityTrx, login: NewLogin): Promise<void> {
  await trx
    .insertInto("oidc_logins")
    .values({
      state_hash: sha256(login.state),
      secret_hash: sha256(login.secret),
      issuer: login.issuer,
      host: login.client.host ?? "player",
      nonce: login.nonce,
      verifier: login.verifier,
      user_id: login.linking?.userId ?? null,
      session: login.linking?.session ?? null,
      network: login.network,
      created_at: login.now,
      expires_at: login.expiresAt,
    })
    .execute();
}

/** How many logins of a network are within their time. */
export async function countLive(trx: IdentityTrx, about: { network: string; now: Date }): Promise<number> {
  const { count } = await trx
    .selectFrom("oidc_logins")
    .select((row) => row.fn.countAll<string>().as("count"))
    .where("network", "=", about.network)
    .where("expires_at", ">", about.now)
    .executeTakeFirstOrThrow();
  return Number(count);
}

export type Login = ReturnType<typeof toLogin>;

/** The one mapper from a row. */
function toLogin(row: Selectable<OidcLoginsTable>) {
  return {
    issuer: row.issuer,
    host: row.host,
    nonce: row.nonce,
    verifier: row.verifier,
    userId: row.user_id,
    session: row.session,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}

/** Takes a login away: of several that come with the same state, one gets it. Only the browser that has the secret can. */
export async function takeLogin(
  db: IdentityDb,
  about: { state: string; secret: string },
): Promise<Login | undefined> {
  const row = await db
    .deleteFrom("oidc_logins")
    .where("state_hash", "=", sha256(about.state))
    .where("secret_hash", "=", sha256(about.secret))
    .returningAll()
    .executeTakeFirst();
  return row && toLogin(row);
}

export type Identity = Selectable<ExternalIdentitiesTable>;
type Who = { issuer: string; subject: string };

export function findIdentity(db: IdentityDb, { issuer, subject }: Who): Promise<Identity | undefined> {
  return db
    .selectFrom("external_identities")
    .selectAll()
    .where("issuer", "=", issuer)
    .where("subject", "=", subject)
    .executeTakeFirst();
}

/** The identities of an account, oldest first. */
export function listIdentities(db: IdentityDb, userId: string): Promise<Identity[]> {
  return db
    .selectFrom("external_identities")
    .selectAll()
    .where("user_id", "=", userId)
    .orderBy("created_at")
    .orderBy("id")
    .execute();
}

/** Violates `external_identities_once` when any account has it. */
export function insertIdentity(
  trx: IdentityTrx,
  about: Who & { userId: string; label: string; now: Date },
): Promise<Identity> {
  const { issuer, subject, label } = about;
  return trx
    .insertInto("external_identities")
    .values({ id: mintId(), user_id: about.userId, issuer, subject, label, created_at: about.now })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function recordUse(
  trx: IdentityTrx,
  used: { id: string; label: string; gaveAdmin: boolean; now: Date },
): Promise<void> {
  await trx
    .updateTable("external_identities")
    .set({ label: used.label, gave_admin: used.gaveAdmin, last_used_at: used.now })
    .where("id", "=", used.id)
    .execute();
}

export async function deleteIdentity(trx: IdentityTrx, id: string): Promise<void> {
  await trx.deleteFrom("external_identities").where("id", "=", id).execute();
}

/** The account of an identity, in whatever state, locked until the transaction ends. */
export function lockAccount(trx: IdentityTrx, userId: string) {
  return trx.selectFrom("users").selectAll().where("id", "=", userId).forUpdate().executeTakeFirst();
}

/** Whether an account, disabled or not, has verified this address. */
export async function isAddressTaken(db: IdentityDb, address: string): Promise<boolean> {
  const row = await db
    .selectFrom("users")
    .select("id")
    .where(sql<boolean>`lower(email) = lower(${address})`)
    .where("email_verified", "=", true)
    .where("deleted_at", "is", null)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

const mostLapsed = 500;

/** Accounts whose role an identity gave that was last used before a moment. */
export function findLapsed(db: IdentityDb, before: Date): Promise<{ user_id: string }[]> {
  return db
    .selectFrom("external_identities")
    .select("user_id")
    .distinct()
    .where("gave_admin", "=", true)
    .where("last_used_at", "<", before)
    .limit(mostLapsed)
    .execute();
}

/** Forgets that these identities gave a role. Call it with the account locked. */
export async function withdrawRole(
  trx: IdentityTrx,
  { userId, before }: { userId: string; before: Date },
): Promise<void> {
  await trx
    .updateTable("external_identities")
    .set({ gave_admin: false })
    .where("user_id", "=", userId)
    .where("gave_admin", "=", true)
    .where("last_used_at", "<", before)
    .execute();
}
