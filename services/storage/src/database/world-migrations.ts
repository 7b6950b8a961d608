import type { migrations } from "@svc/proto";
import type { ColumnType, Generated, Selectable } from "kysely";

type MaybeText = ColumnType<string | null, string | null | undefined, string | null>;
type At = ColumnType<Date, Date | undefined, Date>;

export type WorldMigrationsTable = {
  id: string;
  server_name: string;
  state: migrations.MigrationState;
  stage: migrations.MigrationState;
  source_node: string;
  target_node: string;
  source_claim: string;
  source_claim_uid: string;
  target_claim: string;
  lock: string;
  locked_at: ColumnType<Date | null, undefined, Date | null>;
  owner_id: MaybeText;
  started_by: string;
  backup_id: ColumnType<string | null, undefined, string>;
  switched: Generated<boolean>;
  attempt: Generated<number>;
  error: Generated<string>;
  abandoned: Generated<boolean>;
  cancelled_at: ColumnType<Date | null, undefined, Date>;
  cancelled_by: ColumnType<string | null, undefined, string>;
  started_at: At;
  updated_at: At;
};
export type MoveRow = Selectable<WorldMigrationsTable>;
