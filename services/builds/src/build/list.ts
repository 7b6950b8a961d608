import type { Handler } from "@svc/mesh";
import type { builds } from "@svc/proto";
import type { BuildDeps } from "./deps.ts";
import { searchOf } from "./policy.ts";
import { toBuild } from "./row.ts";
import { listBuilds } from "./store.ts";

/** builds.build.list */
export function createList({ db }: Pick<BuildDeps, "db">): Handler<typeof builds.listBuilds> {
  return async (_context, { query, kind = "build", limit, offset }) => {
    const search = query === undefined || query === "" ? undefined : searchOf(query);
    const { rows, total } = await listBuilds(db, { search, kind, limit, offset });
    return { builds: rows.map(toBuild), total };
  };
}
