// All SQL of SSH keys and of what they open (docs/reference/sftp.md#keys).

import { accounts, type sshKeys } from "@svc/proto";
import { outboxRow } from "@svc/store";
import type { Selectable } from "kysely";
import type { IdentityDb, IdentityTrx, SshKeysTable } from "../database.ts";
import { truncateAddress } from "../session/policy.ts";

type Row = Selectable<SshKeysTable>;
type NewKey = Omit<Row, "last_used_at" | "last_used_ip">;

/** The key as its owner sees it; undefined when its fingerprint is registered already. */
export async function insertKey(trx: IdentityTrx, key: NewKey): Promise<sshKeys.SshKey | undefined> {
  const row = await trx
    .insertInto("ssh_keys")
    .values(key)
    .onConflict((conflict) => conflict.column("fingerprint").doNothing())
    .returningAll()
    .executeTakeFirst();
  return row && toKeyView(row);
}

export async function countKeys(db: IdentityDb, userId: string): Promise<number> {
  const { count } = await db
    .selectFrom("ssh_keys")
    .select((row) => row.fn.countAll<string>().as("count"))
    .where("user_id", "=", userId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Keys of an account, newest first. */
export async function listKeys(db: IdentityDb, userId: string): Promise<sshKeys.SshKey[]> {
  const rows = await db
    .selectFrom("ssh_keys")
    .selectAll()
    .where("user_id", "=", userId)
    .orderBy("created_at", "desc")
    .orderBy("id")
    .execute();
  return rows.map(toKeyView);
}

/** The one mapper from a row. */
function toKeyView(row: Row): sshKeys.SshKey {
  return {
    id: row.id,
    name: row.name,
    type: row.type,
    fingerprint: row.fingerprint,
    created_at: row.created_at.toISOString(),
    ...(row.last_used_at && { last_used_at: row.last_used_at.toISOString() }),
    ...(row.last_used_ip !== null && { last_used_ip: row.last_used_ip }),
  };
}

export async function findHolder(db: IdentityDb, fingerprint: string): Promise<string | undefined> {
  const key = await db
    .selectFrom("ssh_keys")
    .select("user_id")
    .where("fingerprint", "=", fingerprint)
    .executeTakeFirst();
  return key?.user_id;
}

/** Locked, so that a key that is being removed opens nothing any more; after its account, as everywhere. */
export function lockKey(trx: IdentityTrx, { userId, fingerprint }: { userId: string; fingerprint: string }) {
  return trx
    .selectFrom("ssh_keys")
    .select(["id", "name"])
    .where("user_id", "=", userId)
    .where("fingerprint", "=", fingerprint)
    .forUpdate()
    .executeTakeFirst();
}

export async function recordKeyUse(
  trx: IdentityTrx,
  { id, now, address }: { id: string; now: Date; address: string },
): Promise<void> {
  await trx
    .updateTable("ssh_keys")
    .set({ last_used_at: now, last_used_ip: truncateAddress(address) })
    .where("id", "=", id)
    .execute();
}

type Removal = { userId: string; now: Date; only?: string };

/** Removes the keys of an account and ends what they opened, in the same transaction; `only`: this one alone. */
export async function removeKeys(
  trx: IdentityTrx,
  { userId, now, only }: Removal,
): Promise<{ id: string; name: string; fingerprint: string }[]> {
  let query = trx.deleteFrom("ssh_keys").where("user_id", "=", userId);
  if (only !== undefined) query = query.where("id", "=", only);
  const removed = await query.returning(["id", "name", "fingerprint"]).execute();
  const ids = removed.map(({ id }) => id);
  if (ids.length > 0) await endSessions(trx, { ids, now });
  return removed;
}

async function endSessions(trx: IdentityTrx, { ids, now }: { ids: string[]; now: Date }): Promise<void> {
  const ended = await trx
    .updateTable("api_tokens")
    .set({ revoked_at: now })
    .where("ssh_key_id", "in", ids)
    .where("revoked_at", "is", null)
    .returning(["token_hash", "user_id"])
    .execute();
  await announceEnds(trx, ended, now);
}

type Ended = { token_hash: string; user_id: string };

async function announceEnds(trx: IdentityTrx, ended: readonly Ended[], now: Date): Promise<void> {
  if (ended.length === 0) return;
  const at = now.toISOString();
  const rows = ended.map(({ token_hash: hash, user_id }) =>
    outboxRow(accounts.sessionRevoked, { hash, user_id, at }),
  );
  await trx.insertInto("outbox").values(rows).execute();
}

/** Forgets a session; gateways hear of it. One that is no session of SFTP, or gone, is left as it is. */
export async function deleteSession(trx: IdentityTrx, { id, now }: { id: string; now: Date }): Promise<void> {
  const ended = await trx
    .deleteFrom("api_tokens")
    .where("id", "=", id)
    .where("ssh_key_id", "is not", null)
    .returning(["token_hash", "user_id"])
    .execute();
  await announceEnds(trx, ended, now);
}

/** Ends the oldest sessions of an account but `keep`: those of a process that was killed are never closed. */
export async function endOldestSessions(
  trx: IdentityTrx,
  { userId, keep, now }: { userId: string; keep: number; now: Date },
): Promise<void> {
  const ended = await trx
    .deleteFrom("api_tokens")
    .where("id", "in", (query) =>
      query
        .selectFrom("api_tokens")
        .select("id")
        .where("user_id", "=", userId)
        .where("ssh_key_id", "is not", null)
        .where("revoked_at", "is", null)
        .orderBy("created_at", "desc")
        .orderBy("id")
        .offset(keep),
    )
    .returning(["token_hash", "user_id"])
    .execute();
  await announceEnds(trx, ended, now);
}
