import { backupChanges, backups as contracts, restorePlans } from "@svc/proto";

/** Backups and the Jobs that make and restore them. */
export const backups = {
  list: contracts.list,
  create: contracts.create,
  edit: contracts.edit,
  expire: contracts.expire,
  listFiles: contracts.listFiles,
  listChanges: backupChanges.listChanges,
  planRestore: restorePlans.plan,
  restore: contracts.restore,
  listJobs: contracts.listJobs,
};
