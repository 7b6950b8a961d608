import type { Db, Trx } from "@svc/store";
import { lockAccounts } from "../database/account-usage.ts";
import type { LifecycleStore, Tables } from "../database/schema.ts";
import { rowColumns, rowOf, type ServerRow } from "../database/server-row.ts";
import { withDatabaseFaults } from "../database/with-database-faults.ts";

export type OwnedStore = {
  /** Names of the servers of an account. */
  namesOf: (accountId: string) => Promise<string[]>;
  /** Runs while no other server of the owner can be kept awake; `row` is the server's own, `owned` all of the owner. */
  whileCounted: <T>(
    about: { name: string; ownerId: string },
    work: (found: { row: ServerRow | undefined; owned: string[] }) => Promise<T>,
  ) => Promise<T>;
};

export function createOwnedStore({ db }: LifecycleStore): OwnedStore {
  const whileCounted: OwnedStore["whileCounted"] = ({ name, ownerId }, work) =>
    db.transaction().execute(async (trx) => {
      await lockAccounts(trx, ownerId);
      const query = trx.selectFrom("servers").select(rowColumns).where("name", "=", name);
      const row = await query.where("deleted_at", "is", null).executeTakeFirst();
      return work({ row: row && rowOf(row), owned: await namesOf(trx, ownerId) });
    });
  return {
    namesOf: withDatabaseFaults((accountId) => namesOf(db, accountId)),
    whileCounted: withDatabaseFaults(whileCounted) as OwnedStore["whileCounted"],
  };
}

async function namesOf(db: Db<Tables> | Trx<Tables>, accountId: string): Promise<string[]> {
  const query = db.selectFrom("servers").select("name").where("owner_id", "=", accountId);
  return (await query.where("deleted_at", "is", null).execute()).map(({ name }) => name);
}
