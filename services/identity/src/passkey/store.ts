// All SQL of passkeys and their challenges.

import { type Selectable, sql } from "kysely";
import type {
  ChallengePurpose,
  ChallengesTable,
  CredentialsTable,
  IdentityDb,
  IdentityTrx,
} from "../database.ts";
import { mintId } from "../secret.ts";

export type Credential = Selectable<CredentialsTable>;

/** The passkeys of an account, newest first. */
export function listCredentials(db: IdentityDb, userId: string): Promise<Credential[]> {
  return db
    .selectFrom("webauthn_credentials")
    .selectAll()
    .where("user_id", "=", userId)
    .orderBy("created_at", "desc")
    .orderBy("id")
    .execute();
}

export function findCredential(db: IdentityDb, credentialId: string): Promise<Credential | undefined> {
  return db
    .selectFrom("webauthn_credentials")
    .selectAll()
    .where("credential_id", "=", credentialId)
    .executeTakeFirst();
}

export type NewCredential = Omit<Credential, "id" | "last_used_at">;

/** Violates `webauthn_credentials_once` when any account has it registered. */
export function insertCredential(trx: IdentityTrx, credential: NewCredential): Promise<Credential> {
  return trx
    .insertInto("webauthn_credentials")
    .values({ id: mintId(), ...credential })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Records a use. Call it with the account locked since the counter was checked. */
export async function recordUse(
  trx: IdentityTrx,
  used: { id: string; counter: number; isBackedUp: boolean; now: Date },
): Promise<void> {
  await trx
    .updateTable("webauthn_credentials")
    .set({ sign_count: used.counter, backup_state: used.isBackedUp, last_used_at: used.now })
    .where("id", "=", used.id)
    .execute();
}

/** True when the account had such a passkey. */
export async function deleteCredential(
  trx: IdentityTrx,
  { id, userId }: { id: string; userId: string },
): Promise<boolean> {
  const gone = await trx
    .deleteFrom("webauthn_credentials")
    .where("id", "=", id)
    .where("user_id", "=", userId)
    .executeTakeFirst();
  return gone.numDeletedRows > 0n;
}

export async function deleteCredentialsOf(trx: IdentityTrx, userId: string): Promise<number> {
  const gone = await trx.deleteFrom("webauthn_credentials").where("user_id", "=", userId).executeTakeFirst();
  return Number(gone.numDeletedRows);
}

type NewChallenge = {
  purpose: ChallengePurpose;
  challenge: string;
  userId?: string;
  session?: string;
  source?: string;
  now: Date;
  ttlMs: number;
};

/** Keeps a challenge beside the other live ones. Returns its id. */
export async function insertChallenge(db: IdentityDb, about: NewChallenge): Promise<string> {
  const id = mintId();
  await db
    .insertInto("webauthn_challenges")
    .values({
      id,
      user_id: about.userId ?? null,
      purpose: about.purpose,
      challenge: about.challenge,
      session: about.session ?? null,
      source: about.source ?? null,
      created_at: about.now,
      expires_at: new Date(about.now.getTime() + about.ttlMs),
    })
    .execute();
  return id;
}

/** Forgets all but the newest challenges of an account for a purpose. */
export async function keepNewestChallenges(
  db: IdentityDb,
  { userId, purpose, limit }: { userId: string; purpose: ChallengePurpose; limit: number },
): Promise<void> {
  await db
    .deleteFrom("webauthn_challenges")
    .where("id", "in", (older) =>
      older
        .selectFrom("webauthn_challenges")
        .select("id")
        .where("user_id", "=", userId)
        .where("purpose", "=", purpose)
        .orderBy("created_at", "desc")
        .orderBy("id", "desc")
        .offset(limit),
    )
    .execute();
}

/** How many ceremonies of an endpoint are live, from one network or in total. */
export async function countLive(
  trx: IdentityTrx,
  about: { purpose: ChallengePurpose; source?: string; now: Date },
): Promise<number> {
  let query = trx
    .selectFrom("webauthn_challenges")
    .select((select) => select.fn.countAll<number>().as("live"))
    .where("purpose", "=", about.purpose)
    .where("consumed_at", "is", null)
    .where("expires_at", ">", about.now);
  if (about.source !== undefined) query = query.where("source", "=", about.source);
  return (await query.executeTakeFirstOrThrow()).live;
}

/** Serializes counting and adding at one endpoint over all replicas. */
export async function takeTurn(trx: IdentityTrx, key: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${key}, 0))`.execute(trx);
}

export type Spent = Selectable<ChallengesTable>;

/** Spends a live challenge of a purpose: of several that try, one gets it. */
export function spendChallenge(
  db: IdentityDb,
  about: { challenge: string; purpose: ChallengePurpose; now: Date },
): Promise<Spent | undefined> {
  return db
    .updateTable("webauthn_challenges")
    .set({ consumed_at: about.now })
    .where("challenge", "=", about.challenge)
    .where("purpose", "=", about.purpose)
    .where("consumed_at", "is", null)
    .where("expires_at", ">", about.now)
    .returningAll()
    .executeTakeFirst();
}
