import type { Owner } from "../caller.ts";

/**
 * Names of the views and buckets of each owner (docs/reference/mesh.md#views), for a service that checks at its start
 * whether they exist: with the catalog it would load every contract, 10 MB in each process.
 */
export const keptNames: Readonly<Record<Owner, readonly string[]>> = {
  identity: [],
  lifecycle: [
    "servers",
    "server-owners",
    "announcements",
    "public-announcements",
    "status-pages",
    "status-overview",
  ],
  storage: [
    "storage-file-ops",
    "storage-uploads",
    "storage-uploaders",
    "storage-coming-parts",
    "storage-exports",
    "storage-export-starts",
  ],
  builds: [],
  "ops-watchdog": [],
};
