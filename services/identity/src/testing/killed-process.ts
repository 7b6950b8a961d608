// Shared by identity's test processes that kill themselves.

import type { Context } from "@svc/mesh";
import { type AnyContract, Fault, type Principal } from "@svc/proto";
import { openStore, type Store } from "@svc/store";
import { createLogger, createRegistry } from "@svc/telemetry";
import { settings } from "../config.ts";
import type { Tables } from "../database.ts";
import type { Deps } from "../deps.ts";
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

/** What handlers need, of a process that dies before its first commit if `killPoint` says so. */
export function killedDeps(url: string, killPoint: string | undefined): Deps {
  const { store, events } = openKilledProcess(url);
  if (killPoint === "before the commit") dieBeforeCommit(store);
  return {
    db: store.db,
    limits: settings.parse({}).identity,
    now: () => new Date(),
    events,
    hasRelay: true,
    issuers: [],
  };
}

/** A request of an account, given as JSON. */
export function killedContext<C extends AnyContract>(requestId: string, principal: string): Context<C> {
  return {
    requestId,
    principal: JSON.parse(principal) as Principal,
    client: { address: "192.0.2.7", userAgent: "svc" },
    reply: {},
    fault: (name: Fault["fault"]) => new Fault(name),
  } as unknown as Context<C>;
}
