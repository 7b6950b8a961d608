// What the database knows of owners, and its changes as they commit.

import { listenForNotifications, type Notifications } from "@svc/store";
import type { Logger } from "@svc/telemetry";
import { sql } from "kysely";
import type { LifecycleStore } from "../database/schema.ts";
import { rowColumns, rowOf, type ServerRow } from "../database/server-row.ts";
import { withDatabaseFaults } from "../database/with-database-faults.ts";
import { findNames } from "../server/player-names.ts";

export type NamedRow = { row: ServerRow; subdomain: string | undefined };

export type OwnerRows = {
  /** Rows by name; of all servers without `names`. */
  read: (names?: readonly string[]) => Promise<Map<string, NamedRow>>;
  /** Names that players had at their last join, by UUID. */
  playerNames: (uuids: readonly string[]) => Promise<Record<string, string>>;
  /** Calls back with the name of each server whose owner may have changed; with none when any may have. */
  watch: (onChange: (name: string | undefined) => void) => Notifications;
};

/** The triggers of `servers` notify it. */
const channel = "lifecycle_owners";

export function createOwnerRows(store: LifecycleStore, log: Logger): OwnerRows {
  return {
    read: withDatabaseFaults(async (names) => {
      const all = store.db
        .selectFrom("servers")
        .leftJoin("server_aliases", "server_aliases.server_name", "servers.name")
        .select(["name", "subdomain", ...rowColumns])
        .where("deleted_at", "is", null);
      const some = names ? all.where("name", "=", sql<string>`any(${[...names]}::text[])`) : all;
      const rows = await some.execute();
      return new Map(
        rows.map((row) => [row.name, { row: rowOf(row), subdomain: row.subdomain ?? undefined }]),
      );
    }),
    playerNames: withDatabaseFaults((uuids) => findNames(store, uuids)),
    watch: (onChange) =>
      listenForNotifications({
        url: store.url,
        schema: store.schema,
        channel,
        onNotification: (name) => onChange(name),
        onListening: () => onChange(undefined),
        log,
      }),
  };
}
