import type { ColumnType } from "kysely";

export type ArchiveTicketsTable = {
  id: string;
  kind: "put" | "get";
  job: string;
  /** File name in the archive folder. */
  archive: string;
  token_hash: string;
  expires_at: Date;
  used_at: ColumnType<Date | null, undefined, Date>;
  received_at: ColumnType<Date | null, undefined, Date>;
  size_bytes: ColumnType<number | null, undefined, number>;
  sha256: ColumnType<string | null, undefined, string>;
};
