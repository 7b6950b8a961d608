// All SQL on saved filters.

import { serverFilters as contracts, Fault } from "@svc/proto";
import type { Trx } from "@svc/store";
import { lockAccounts } from "../database/account-usage.ts";
import type { LifecycleStore, Tables } from "../database/schema.ts";
import { withDatabaseFaults } from "../database/with-database-faults.ts";
import type { Filter } from "./input.ts";

type FilterStore = {
  /** Those of an account by name. */
  list: (accountId: string) => Promise<contracts.ServerFilter[]>;
  /** Replaces one of the same name, which keeps its id. Throws `filter_limit`. */
  save: (accountId: string, id: string, filter: Filter) => Promise<contracts.ServerFilter>;
  /** Nothing changes where the account has none of this id. */
  remove: (accountId: string, id: string) => Promise<void>;
};

type FilterRow = Omit<Tables["server_filters"], "account_id" | "saved_at">;
const columns = ["id", "name", "search", "show", "tag", "node", "sort"] as const;

export function createFilterStore({ db }: LifecycleStore): FilterStore {
  return {
    list: withDatabaseFaults(async (accountId) => {
      const rows = await db
        .selectFrom("server_filters")
        .select(columns)
        .where("account_id", "=", accountId)
        .orderBy("name")
        .execute();
      return rows.map(toFilter);
    }),
    save: withDatabaseFaults((accountId, id, filter) =>
      db.transaction().execute(async (trx) => {
        await lockAccounts(trx, accountId);
        return save(trx, accountId, { ...filter, id });
      }),
    ),
    remove: withDatabaseFaults(async (accountId, id) => {
      const mine = db.deleteFrom("server_filters").where("account_id", "=", accountId);
      await mine.where("id", "=", id).execute();
    }),
  };
}

/** Of an account that is deleted or merged. */
export async function deleteFiltersOf(trx: Trx<Tables>, accountId: string): Promise<void> {
  await trx.deleteFrom("server_filters").where("account_id", "=", accountId).execute();
}

async function save(
  trx: Trx<Tables>,
  account_id: string,
  { id, name, show, ...filter }: contracts.ServerFilter,
): Promise<contracts.ServerFilter> {
  const others = await trx
    .selectFrom("server_filters")
    .select("id")
    .where("account_id", "=", account_id)
    .where("name", "<>", name)
    .execute();
  if (others.length >= contracts.mostFilters) throw new Fault("filter_limit");
  const saved = { ...filter, show: show ?? ("" as const), saved_at: new Date() };
  const row = await trx
    .insertInto("server_filters")
    .values({ ...saved, id, account_id, name })
    .onConflict((conflict) => conflict.columns(["account_id", "name"]).doUpdateSet(saved))
    .returning(columns)
    .executeTakeFirstOrThrow();
  return toFilter(row);
}

function toFilter({ show, ...row }: FilterRow): contracts.ServerFilter {
  return { ...row, ...(show !== "" && { show }) };
}
