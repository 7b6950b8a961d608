// Wakes the loops of this replica for work that any replica has recorded.

import { listenForNotifications, type Store } from "@svc/store";
import { createWake, type Wake } from "@svc/store/wake";
import type { Logger } from "@svc/telemetry";
import type { Tables } from "./tables.ts";

/** The triggers of these tables notify it, with the table's name. */
const channel = "storage_work";
const tables = ["world_jobs", "world_migrations", "drills", "file_changes", "origins"] as const;

/** One per table, and so one per loop. */
export type WorkWakes = Readonly<Record<(typeof tables)[number], Wake>>;

export function listenForWork(
  { url, schema }: Pick<Store<Tables>, "url" | "schema">,
  log: Logger,
): { wakes: WorkWakes; close: () => Promise<void> } {
  const wakes = {
    world_jobs: createWake(),
    world_migrations: createWake(),
    drills: createWake(),
    file_changes: createWake(),
    origins: createWake(),
  };
  const { close } = listenForNotifications({
    ...{ url, schema, channel, log },
    onNotification: (changed) => {
      for (const table of tables) if (table === changed) wakes[table].ring();
    },
    // Earlier notifications are lost.
    onListening: () => {
      for (const table of tables) wakes[table].ring();
    },
  });
  return { wakes, close };
}
