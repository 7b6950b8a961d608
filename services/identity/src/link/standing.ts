// Which players may not be in the game, and why: a proxy checks all its players.

import type { links } from "@svc/proto";
import { sql } from "kysely";
import type { IdentityDb } from "../database.ts";

/** Only players not in good standing. A bar takes precedence over the state of the account. */
export async function findStandings(
  db: IdentityDb,
  mcUuids: readonly string[],
): Promise<Record<string, links.BadStanding>> {
  if (mcUuids.length === 0) return {};
  const { rows } = await sql<{ mc_uuid: string; standing: links.BadStanding }>`
    select * from (
      select asked.mc_uuid::text as mc_uuid, case
        when b.mc_uuid is not null then 'barred'
        when l.mc_uuid is null then 'not_linked'
        when u.deleted_at is not null then 'account_deleted'
        when u.disabled then 'account_disabled'
      end as standing
      from unnest(${[...mcUuids]}::uuid[]) as asked (mc_uuid)
      left join username_blacklist b on b.mc_uuid = asked.mc_uuid
      left join account_links l on l.mc_uuid = asked.mc_uuid
      left join users u on u.id = l.user_id
    ) found where standing is not null`.execute(db);
  return Object.fromEntries(rows.map(({ mc_uuid, standing }) => [mc_uuid, standing]));
}
