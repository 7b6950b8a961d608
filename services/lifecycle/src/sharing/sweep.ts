// Deletes accesses whose end has come, so that what is open ends too, and invitations that ended long ago
// (docs/reference/shared-access.md#end). Any replica may: rows that another one works on are left to it.

import { isLive } from "@svc/proto";
import { startLoop } from "@svc/service/loop";
import type { Logger } from "@svc/telemetry";
import { sql } from "kysely";
import type { LifecycleSettings } from "../config.ts";
import type { LifecycleStore } from "../database/schema.ts";
import { withDatabaseFaults } from "../database/with-database-faults.ts";
import { toGrant } from "./invitation.ts";
import type { SharingStore } from "./store.ts";

type SweepDeps = {
  database: LifecycleStore;
  sharing: SharingStore;
  settings: Pick<LifecycleSettings, "access_sweep" | "invitation_keep">;
  log: Logger;
};

export function startSweepingAccess(deps: SweepDeps): { close: () => Promise<void> } {
  let forgetAt = 0;
  const sweep = async () => {
    await endAccesses(deps);
    if (performance.now() < forgetAt) return;
    await forgetInvitations(deps);
    forgetAt = performance.now() + forgetEvery * deps.settings.access_sweep;
  };
  return startLoop(sweep, {
    everyMs: deps.settings.access_sweep,
    onError: (error) => deps.log.warn({ error: error.message }, "deleting ended accesses failed; retrying"),
  });
}

const serversAtOnce = 100;
/** What only takes room is deleted with one sweep in so many. */
const forgetEvery = 30;

const endAccesses = withDatabaseFaults(async ({ database, sharing }: SweepDeps) => {
  const { db } = database;
  const { rows } = await sql<{ name: string }>`
    select name from servers where members <> '[]' and jsonb_typeof(members) = 'array' and exists (
      select 1 from jsonb_array_elements(members) as member where (member->>'ends_at')::timestamptz <= now()
    ) order by name limit ${serversAtOnce}`.execute(db);
  for (const { name } of rows) await endExpired(sharing, name);
});

const forgetInvitations = withDatabaseFaults(async ({ database, settings }: SweepDeps) => {
  const { db } = database;
  const endedAt = sql<Date>`coalesce(ended_at, expires_at)`;
  const keptSince = sql<Date>`now() - ${settings.invitation_keep}::float8 * interval '1 millisecond'`;
  await db.deleteFrom("access_invitations").where(endedAt, "<", keptSince).execute();
  // A bucket is full again after a minute.
  const hourAgo = sql<Date>`now() - interval '1 hour'`;
  await db.deleteFrom("invitation_attempts").where("refilled_at", "<", hourAgo).execute();
});

function endExpired(sharing: SharingStore, name: string): Promise<unknown> {
  return sharing.withServer(name, async (locked) => {
    const now = Date.now();
    const ended = (locked.row.members ?? []).filter((member) => !isLive(member, now));
    for (const member of ended) {
      await locked.removeMember(member);
      await locked.audit({
        ...{ actor: "svc", source: "scheduler", action: "server.access.expire", server_name: name },
        payload: { user_id: member.user_id, ...toGrant(member) },
      });
    }
    if (ended.length > 0) await locked.announce();
  });
}
