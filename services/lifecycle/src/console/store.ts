// All SQL on who follows which console. All times are the database's, so the clocks of replicas need not agree.

import { type RawBuilder, sql } from "kysely";
import type { LifecycleStore } from "../database/schema.ts";
import { withDatabaseFaults } from "../database/with-database-faults.ts";

type Spans = { leaseMs: number; lingerMs: number };

export type ConsoleStore = {
  /** Records a viewer; true when this replica holds or gets the lease. */
  want: (server: string, replica: string, spans: Spans) => Promise<boolean>;
  /** Renews the leases of `held`; those missing in the answer were lost or are no longer wanted. */
  renew: (held: readonly string[], replica: string, leaseMs: number) => Promise<string[]>;
  /** Takes over wanted consoles whose lease has expired, at most `most`. */
  takeOver: (replica: string, leaseMs: number, most: number) => Promise<string[]>;
  /** Whether anybody watches a console, so that a lease may expire. */
  isAnyWanted: () => Promise<boolean>;
  /** Gives leases back, so that another replica can take over. */
  release: (servers: readonly string[], replica: string) => Promise<void>;
  /** Deletes a lease whose server has stopped. */
  finish: (server: string, replica: string) => Promise<void>;
};

const later = (ms: number) => sql<Date>`now() + ${ms}::float8 * interval '1 millisecond'`;

export function createConsoleStore({ db }: LifecycleStore): ConsoleStore {
  const run = async <T>(query: RawBuilder<T>) => (await withDatabaseFaults(() => query.execute(db))()).rows;
  const names = async (query: RawBuilder<{ server_name: string }>) =>
    (await run(query)).map(({ server_name }) => server_name);
  return {
    want: async (server, replica, { leaseMs, lingerMs }) => {
      const [row] = await run(sql<{ is_mine: boolean }>`
        insert into console_follows as known (server_name, replica, held_until, wanted_until)
        values (${server}, ${replica}, ${later(leaseMs)}, ${later(lingerMs)})
        on conflict (server_name) do update set
          wanted_until = excluded.wanted_until,
          replica = case when known.held_until < now() then excluded.replica else known.replica end,
          held_until = case when known.held_until < now() or known.replica = excluded.replica
            then excluded.held_until else known.held_until end
        returning replica = ${replica} as is_mine`);
      return row?.is_mine === true;
    },
    renew: (held, replica, leaseMs) =>
      names(sql<{ server_name: string }>`
        update console_follows set held_until = ${later(leaseMs)}
        where server_name = any(${[...held]}::text[]) and replica = ${replica} and wanted_until > now()
        returning server_name`),
    takeOver: (replica, leaseMs, most) =>
      names(sql<{ server_name: string }>`
        update console_follows set replica = ${replica}, held_until = ${later(leaseMs)}
        where server_name in (
          select server_name from console_follows
          where held_until < now() and wanted_until > now()
          limit ${most} for update skip locked)
        returning server_name`),
    isAnyWanted: async () => {
      const [row] = await run(sql<{ is_any: boolean }>`
        select exists (select 1 from console_follows where wanted_until > now()) as is_any`);
      return row?.is_any === true;
    },
    release: async (servers, replica) => {
      await run(sql`
        update console_follows set held_until = now() - interval '1 millisecond'
        where server_name = any(${[...servers]}::text[]) and replica = ${replica}`);
      await run(sql`delete from console_follows where wanted_until < now() and held_until < now()`);
    },
    finish: async (server, replica) => {
      await run(sql`delete from console_follows where server_name = ${server} and replica = ${replica}`);
    },
  };
}
