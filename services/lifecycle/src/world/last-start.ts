// The last start of a server that went well (docs/reference/crashes.md#safe-start).

import type { Handler } from "@svc/mesh";
import { worlds as contracts } from "@svc/proto";
import { sql } from "kysely";
import type { LifecycleStore } from "../database/schema.ts";
import { withDatabaseFaults } from "../database/with-database-faults.ts";

/** A crash so soon after players could join counts as a bad start. */
const provenAfter = sql`interval '10 minutes'`;
/** Ends of containers are whole seconds. */
const timesSlack = sql`interval '1 second'`;

export const readLastStart =
  (store: LifecycleStore): Handler<typeof contracts.readLastStart> =>
  async (_context, { name }) => {
    const readyAt = await findGoodStart(store, name);
    if (!readyAt) return { rests: [] };
    const rests = await findRests(store, name, readyAt);
    return {
      ready_at: readyAt.toISOString(),
      rests: rests.map(({ from, to }) => ({ from: from.toISOString(), ...(to && { to: to.toISOString() }) })),
    };
  };

const findGoodStart = withDatabaseFaults(async ({ db }: LifecycleStore, name: string) => {
  const { rows } = await sql<{ at: Date }>`
    select at from server_phases p where server_name = ${name} and phase = 'Running' and not exists (
      select from server_crashes c where c.server_name = p.server_name
        and c.at >= p.at - ${timesSlack} and c.at < p.at + ${provenAfter})
    order by at desc limit 1`.execute(db);
  return rows[0]?.at;
});

const findRests = withDatabaseFaults(async ({ db }: LifecycleStore, name: string, since: Date) => {
  const { rows } = await sql<{ from: Date; to: Date | null }>`
    select at as "from", until as "to" from (
      select at, phase, lead(at) over (order by at) as until
      from server_phases where server_name = ${name} and at >= ${since}
    ) as spans where phase = 'Stopped' order by at desc limit ${contracts.mostRests}`.execute(db);
  return rows;
});
