// Tables of the schema `ops_watchdog` as kysely sees them; a test compares them with the live schema.

import type { databaseBackups, offsites, updates } from "@svc/proto";
import type { Db } from "@svc/store";
import type { ColumnType, Generated, GeneratedAlways, JSONColumnType } from "kysely";

type DefaultAt = ColumnType<Date, Date | undefined, Date>;

type UpdateWindowTable = {
  id: Generated<boolean>;
  starts_at: Date | null;
  ends_at: Date | null;
  updated_at: DefaultAt;
};

type UpdateReportsTable = {
  id: GeneratedAlways<number>;
  checked_at: Date;
  version: string;
  components: JSONColumnType<updates.UpdateComponent[]>;
};

export type DatabaseBundlesTable = {
  name: string;
  label: databaseBackups.BundleLabel;
  taken_at: Date;
  size_bytes: number;
  version: string;
  schema_version: number;
  dir: string;
  servers_error: string | null;
  /** Why it cannot be used. */
  damage: string | null;
};

type RehearsalsTable = {
  id: GeneratedAlways<number>;
  bundle: string;
  started_at: Date;
  duration_ms: number;
  row_count: number;
  error: string | null;
};

type RestoresTable = {
  id: GeneratedAlways<number>;
  bundle: string;
  loaded_at: DefaultAt;
  finished_at: Date | null;
};

/** What a pass found and did, written when it ends; `kinds` only when the bucket was listed. */
export type PassReport = Pick<
  offsites.OffsitePass,
  "sent" | "sent_bytes" | "deleted" | "failed" | "failures" | "error"
> &
  Pick<offsites.OffsiteStatus, "key_id" | "writer" | "store"> & { kinds?: offsites.OffsiteKindStatus[] };

type OffsitePassesTable = {
  id: GeneratedAlways<number>;
  started_at: DefaultAt;
  beat_at: DefaultAt;
  finished_at: Date | null;
  state: Generated<offsites.OffsitePass["state"]>;
  progress: JSONColumnType<offsites.OffsiteProgress> | null;
  report: ColumnType<Partial<PassReport>, string | undefined, string>;
};

export type Tables = {
  update_window: UpdateWindowTable;
  update_reports: UpdateReportsTable;
  database_bundles: DatabaseBundlesTable;
  rehearsals: RehearsalsTable;
  restores: RestoresTable;
  offsite_passes: OffsitePassesTable;
};

export type WatchdogDb = Db<Tables>;
