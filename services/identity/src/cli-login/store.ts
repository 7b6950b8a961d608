// All SQL of CLI logins. Locks are taken in the order login, account, session.

import type { Client, Role } from "@svc/proto";
import type { Selectable } from "kysely";
import type { CliLoginsTable, IdentityDb, IdentityTrx } from "../database.ts";
import { hashBindCode } from "../link/code.ts";
import { sha256 } from "../secret.ts";
import { truncateAddress, truncateUserAgent } from "../session/policy.ts";

type NewCliLogin = {
  secret: string;
  code: string;
  network: string;
  client: Client;
  now: Date;
  expiresAt: Date;
};

/** False when another login has the same code. */
export async function insertCliLogin(trx: IdentityTrx, login: NewCliLogin): Promise<boolean> {
  const { client } = login;
  const added = await trx
    .insertInto("cli_logins")
    .values({
      secret_hash: sha256(login.secret),
      code_hash: hashBindCode(login.code),
      host: client.host ?? "player",
      network: login.network,
      client_ip: truncateAddress(client.address),
      user_agent: truncateUserAgent(client.userAgent),
      created_at: login.now,
      expires_at: login.expiresAt,
    })
    .onConflict((conflict) => conflict.column("code_hash").doNothing())
    .executeTakeFirst();
  return added.numInsertedOrUpdatedRows === 1n;
}

/** How many logins of a network are within their time, decided or not. */
export async function countLive(trx: IdentityTrx, about: { network: string; now: Date }): Promise<number> {
  const { count } = await trx
    .selectFrom("cli_logins")
    .select((row) => row.fn.countAll<string>().as("count"))
    .where("network", "=", about.network)
    .where("expires_at", ">", about.now)
    .where("consumed_at", "is", null)
    .executeTakeFirstOrThrow();
  return Number(count);
}

type Row = Selectable<CliLoginsTable>;
export type CliLoginRow = ReturnType<typeof toCliLogin>;

/** The one mapper from a row. */
function toCliLogin(row: Row) {
  return {
    secretHash: row.secret_hash,
    host: row.host,
    clientIp: row.client_ip,
    userAgent: row.user_agent,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    decision: row.decision,
    decidedBy: row.decided_by,
    decidedRole: row.decided_role,
    decidedSession: row.decided_session,
    consumedAt: row.consumed_at,
  };
}

export async function findByCode(db: IdentityDb, code: string): Promise<CliLoginRow | undefined> {
  const row = await byCode(db, code).executeTakeFirst();
  return row && toCliLogin(row);
}

/** As `findByCode`, locked until the transaction ends. */
export async function lockByCode(trx: IdentityTrx, code: string): Promise<CliLoginRow | undefined> {
  const row = await byCode(trx, code).forUpdate().executeTakeFirst();
  return row && toCliLogin(row);
}

function byCode(db: IdentityDb, code: string) {
  return db.selectFrom("cli_logins").selectAll().where("code_hash", "=", hashBindCode(code));
}

export async function findBySecret(db: IdentityDb, secret: string): Promise<CliLoginRow | undefined> {
  const row = await bySecret(db, secret).executeTakeFirst();
  return row && toCliLogin(row);
}

/** As `findBySecret`, locked until the transaction ends. */
export async function lockBySecret(trx: IdentityTrx, secret: string): Promise<CliLoginRow | undefined> {
  const row = await bySecret(trx, secret).forUpdate().executeTakeFirst();
  return row && toCliLogin(row);
}

function bySecret(db: IdentityDb, secret: string) {
  return db.selectFrom("cli_logins").selectAll().where("secret_hash", "=", sha256(secret));
}

type Decision = {
  secretHash: string;
  decision: "approve" | "refuse";
  userId: string;
  role: Role;
  session: string;
};

export async function saveDecision(trx: IdentityTrx, about: Decision): Promise<void> {
  await trx
    .updateTable("cli_logins")
    .set({
      decision: about.decision,
      decided_by: about.userId,
      decided_role: about.role,
      decided_session: about.session,
    })
    .where("secret_hash", "=", about.secretHash)
    .execute();
}

export async function consume(trx: IdentityTrx, about: { secretHash: string; now: Date }): Promise<void> {
  await trx
    .updateTable("cli_logins")
    .set({ consumed_at: about.now })
    .where("secret_hash", "=", about.secretHash)
    .execute();
}

/** Keeps a session from being ended until the transaction ends. */
export async function lockSession(trx: IdentityTrx, tokenHash: string): Promise<void> {
  await trx
    .selectFrom("sessions")
    .select("token_hash")
    .where("token_hash", "=", tokenHash)
    .forUpdate()
    .execute();
}
