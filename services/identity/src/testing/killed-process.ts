// Shared by identity's test processes that kill themselves.

import { openStore, type Store } from "@svc/store";
import { createLogger, createRegistry } from "@svc/telemetry";
import type { Tables } from "../database.ts";
import { createEvents } from "../events.ts";

export type KillPoint = "before the commit" | "after the commit";

export const die = () => process.kill(process.pid, "SIGKILL");

/** Kills this process when the last statement of its first transaction has run. */
export function dieBeforeCommit(store: Store<Tables>): void {
  const transaction = store.db.transaction.bind(store.db);
  store.db.transaction = () => {
    const begun = transaction();
    const execute = begun.execute.bind(begun);
    begun.execute = (work) =>
      execute(async (trx) => {
        const result = await work(trx);
        die();
        return result;
      });
    return begun;
  };
}

export function openKilledProcess(url: string) {
  const store = openStore<Tables>({
    url,
    schema: "identity",
    poolSize: 2,
    log: createLogger("identity", "silent"),
  });
  const events = createEvents({
    mesh: { audit: () => undefined },
    countRefusal: () => undefined,
    registry: createRegistry("identity", "test"),
  });
  return { store, events };
}
