// Whose players a caller may see: of servers where the caller has the right `players` (docs/reference/players.md#rights).

import { type AnyContract, askedBy, decideAccess, type Principal } from "@svc/proto";
import { sql } from "kysely";
import type { LifecycleStore } from "../database/schema.ts";
import { rowColumns, rowOf, type ServerRow, sharedOf } from "../database/server-row.ts";
import { isMember } from "../database/shared-rows.ts";
import { withDatabaseFaults } from "../database/with-database-faults.ts";

/** Names of servers; `all` for staff. */
export type Reach = "all" | readonly string[];

export type ReadReach = (principal: Principal, to: Pick<AnyContract, "http">) => Promise<Reach>;

export function createReach({ db }: LifecycleStore): ReadReach {
  return withDatabaseFaults(async (principal, to) => {
    if (principal.kind !== "account") return [];
    if (principal.staff) return "all";
    const id = principal.user_id;
    const rows = await db
      .selectFrom("servers")
      .select(["name", ...rowColumns])
      .where("deleted_at", "is", null)
      .where((where) => where.or([where("owner_id", "=", id), sql<boolean>`${isMember(id)}`]))
      .orderBy("name")
      .execute();
    return reachOf(
      principal,
      rows.map((row) => ({ name: row.name, row: rowOf(row) })),
      to,
    );
  });
}

/** Of these servers those where the caller may do this. Pure but for the clock. */
function reachOf(
  principal: Principal,
  servers: readonly { name: string; row: ServerRow }[],
  to: Pick<AnyContract, "http">,
): string[] {
  const asked = { ...askedBy(to), now: Date.now() };
  return servers
    .filter(({ name, row }) => decideAccess(principal, sharedOf(name, row), asked).isAllowed)
    .map(({ name }) => name);
}
