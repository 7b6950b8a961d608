import type { Handler } from "@svc/mesh";
import type { backupKeeping } from "@svc/proto";
import type { StorageDeps } from "../deps.ts";
import { toWorldJob } from "./row.ts";
import { listJobsOf } from "./store.ts";

/** storage.job.list-by-operator */
export const listJobsByOperator =
  ({
    db,
    settings,
  }: Pick<StorageDeps, "db" | "settings">): Handler<typeof backupKeeping.listJobsByOperator> =>
  async (_context, { name }) => {
    const rows = await listJobsOf(db, { server: name, limit: settings.storage.jobs_shown });
    return { server: name, jobs: rows.map((row) => toWorldJob(row)) };
  };
