import { randomBytes } from "node:crypto";
import type { Context, Mesh } from "@svc/mesh";
import { type AnyContract, serverFilters as contracts, Fault } from "@svc/proto";
import type { LifecycleStore } from "../database/schema.ts";
import { readFilter } from "./input.ts";
import { createFilterStore } from "./store.ts";

/** What an account does with its saved filters (docs/reference/server-filters.md#operations). */
export function serveFilters(mesh: Pick<Mesh, "serve">, database: LifecycleStore): void {
  const filters = createFilterStore(database);
  mesh.serve(contracts.list, async (context) => ({
    filters: await filters.list(accountOf(context)),
    limit: contracts.mostFilters,
  }));
  mesh.serve(contracts.save, (context, given) => {
    const accountId = accountOf(context);
    const read = readFilter(given);
    if (read.kind === "refused") throw new Fault("bad_filter", { message: read.message });
    return filters.save(accountId, `flt-${randomBytes(9).toString("hex")}`, read.filter);
  });
  mesh.serve(contracts.remove, async (context, { id }) => {
    await filters.remove(accountOf(context), id);
    return null;
  });
}

function accountOf({ principal }: Context<AnyContract>): string {
  if (principal.kind !== "account") throw new Fault("forbidden");
  return principal.user_id;
}
