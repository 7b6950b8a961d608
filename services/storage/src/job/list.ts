import type { Handler } from "@svc/mesh";
import { backups } from "@svc/proto";
import { assertMayAccess, assertUserName, scopeAt } from "../access.ts";
import type { StorageDeps } from "../deps.ts";
import { toWorldJob } from "./row.ts";
import { listJobsOf } from "./store.ts";
import { describeWorld } from "./world.ts";

/** storage.job.list: an owner sees the Jobs since they became the owner. */
export const listJobs =
  (deps: Pick<StorageDeps, "mesh" | "db" | "settings">): Handler<typeof backups.listJobs> =>
  async ({ principal }, { name }) => {
    assertUserName(name);
    const world = await describeWorld(deps, name);
    const wanted = { to: backups.listJobs };
    assertMayAccess(principal, world, wanted);
    const scope = scopeAt(principal, world, wanted);
    const owner = scope.kind === "owner" ? { owner: scope.userId } : {};
    const limit = deps.settings.storage.jobs_shown;
    const rows = await listJobsOf(deps.db, { server: name, ...owner, limit });
    return { server: name, jobs: rows.map((row) => toWorldJob(row, principal)) };
  };
