// Tables of the schema `ops_watchdog` as kysely sees them; a test compares them with the live schema.

import type { databaseBackups, offsites, updates, webhooks } from "@svc/proto";
import type { Language } from "@svc/proto/language";
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
  Pick<offsites.OffsiteStatus, "key_id" | "writer" | "store"> & {
    kinds?: offsites.OffsiteKindStatus[];
    wal_copies?: offsites.OffsiteCopies;
  };

type OffsitePassesTable = {
  id: GeneratedAlways<number>;
  started_at: DefaultAt;
  beat_at: DefaultAt;
  finished_at: Date | null;
  state: Generated<offsites.OffsitePass["state"]>;
  progress: JSONColumnType<offsites.OffsiteProgress> | null;
  report: ColumnType<Partial<PassReport>, string | undefined, string>;
};

export type WebhooksTable = {
  id: string;
  /** Null: of the installation; then there is no owner. */
  server_name: string | null;
  owner_id: string | null;
  label: string;
  format: webhooks.WebhookFormat;
  url: string;
  host: string;
  language: Language;
  events: webhooks.WebhookEventType[];
  secret: string | null;
  old_secret: string | null;
  old_secret_until: Date | null;
  enabled: Generated<boolean>;
  off_reason: webhooks.WebhookOffReason | null;
  saved_by: string;
  saved_by_name: string;
  created_at: DefaultAt;
  failing_since: Date | null;
  last_attempt_at: Date | null;
  last_attempt_ok: boolean | null;
  last_attempt_status: number | null;
  /** Of the newest alert that was queued, or passed by. */
  alerts_until: Date | null;
  notice_due_at: Date | null;
  notice_attempts: Generated<number>;
};

export type WebhookDeliveriesTable = {
  id: string;
  number: GeneratedAlways<number>;
  webhook_id: string;
  event_id: string;
  type: webhooks.WebhookEventType;
  server_name: string | null;
  /** What waits for what was before it. */
  lane: string;
  data: JSONColumnType<Record<string, unknown>>;
  at: Date;
  created_at: DefaultAt;
  state: Generated<webhooks.DeliveryState>;
  attempts: Generated<number>;
  due_at: DefaultAt;
  /** The attempt that is being made. */
  lease: string | null;
  lease_until: Date | null;
  attempted_at: Date | null;
  finished_at: Date | null;
  status: number | null;
  error: string | null;
  /** The code of `error`. */
  failure: string | null;
  response: string | null;
  duration_ms: number | null;
};

export type Tables = {
  webhooks: WebhooksTable;
  webhook_deliveries: WebhookDeliveriesTable;
  update_window: UpdateWindowTable;
  update_reports: UpdateReportsTable;
  database_bundles: DatabaseBundlesTable;
  rehearsals: RehearsalsTable;
  restores: RestoresTable;
  offsite_passes: OffsitePassesTable;
};

export type WatchdogDb = Db<Tables>;
