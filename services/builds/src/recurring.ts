// Work that one replica does for all from time to time: whoever finds it due takes it. When it is due is in the database, so
// that neither restarts nor a kill put it off.

import { startLoop } from "@svc/service/loop";
import type { Logger } from "@svc/telemetry";
import { sql } from "kysely";
import type { BuildsDb } from "./database.ts";
import { logFailure } from "./log-failure.ts";

type Recurring = {
  db: BuildsDb;
  log: Pick<Logger, "warn">;
  /** Names the work in the table and in the log. */
  name: string;
  everyMs: number;
  /** When it failed, or its replica died, it is due again after this time. */
  retryMs: number;
  work: (signal: AbortSignal) => Promise<void>;
};

const longestWaitMs = 60_000;

/** The first time is one interval after the installation. */
export function startRecurring(recurring: Recurring): { close: () => Promise<void> } {
  const { db, log, name, everyMs, work } = recurring;
  let isKnown = false;
  const round = async (signal: AbortSignal) => {
    if (!isKnown) await addTask(db, { name, everyMs });
    isKnown = true;
    if (!(await takeTask(db, recurring))) return;
    await work(signal);
    await setDue(db, { name, inMs: everyMs });
  };
  return startLoop(round, { everyMs: Math.min(everyMs, longestWaitMs), onError: logFailure(log, name) });
}

const later = (ms: number) => sql<Date>`now() + ${ms} * interval '1 millisecond'`;

/** A shorter interval than before counts at once. */
async function addTask(db: BuildsDb, { name, everyMs }: Pick<Recurring, "name" | "everyMs">): Promise<void> {
  await db
    .insertInto("recurring_tasks")
    .values({ name, due_at: later(everyMs) })
    .onConflict((conflict) =>
      conflict.column("name").doUpdateSet({
        due_at: sql<Date>`least(recurring_tasks.due_at, excluded.due_at)`,
      }),
    )
    .execute();
}

async function takeTask(
  db: BuildsDb,
  { name, retryMs }: Pick<Recurring, "name" | "retryMs">,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("recurring_tasks")
    .set({ due_at: later(retryMs) })
    .where("name", "=", name)
    .where("due_at", "<=", sql<Date>`now()`)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

async function setDue(db: BuildsDb, { name, inMs }: { name: string; inMs: number }): Promise<void> {
  await db
    .updateTable("recurring_tasks")
    .set({ due_at: later(inMs) })
    .where("name", "=", name)
    .execute();
}
