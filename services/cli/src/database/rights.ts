// What a migration asks of the database beside its schemas.

import { loadSettings } from "@svc/config";
import pg from "pg";
import { z } from "zod";
import { schemas } from "./schemas.ts";

/** Migrations of this build that wait for schemas that have had one before, as `schema: name`. */
export async function findPending(adminUrl: string): Promise<string[]> {
  return withClient(adminUrl, async (client) => {
    const pending: string[] = [];
    for (const { name, migrations } of schemas()) {
      const table = `${pg.escapeIdentifier(name)}.schema_migrations`;
      const { rows } = await client.query<{ there: boolean }>("select to_regclass($1) is not null as there", [
        table,
      ]);
      if (!rows[0]?.there) continue;
      const applied = await client.query<{ count: number }>(`select count(*)::int as count from ${table}`);
      const count = applied.rows[0]?.count ?? 0;
      if (count > 0) pending.push(...migrations.slice(count).map((one) => `${name}: ${one.name}`));
    }
    return pending;
  });
}

/** The bundle of a restore whose rows are there and whose streams are not. */
export async function findUnfinishedRestore(adminUrl: string): Promise<string | undefined> {
  return withClient(adminUrl, async (client) => {
    const { rows: tables } = await client.query<{ there: boolean }>(
      "select to_regclass('ops_watchdog.restores') is not null as there",
    );
    if (!tables[0]?.there) return undefined;
    const { rows } = await client.query<{ bundle: string }>(
      "select bundle from ops_watchdog.restores where finished_at is null order by id desc limit 1",
    );
    return rows[0]?.bundle;
  });
}

const watchdogRole = "svc_ops_watchdog";

/** What the settings say about the archive of the write-ahead log. */
const archiving = z.object({
  ops_watchdog: z
    .looseObject({ wal_archive: z.boolean().default(false), replication_url_ref: z.string().default("") })
    .prefault({}),
});

/**
 * Lets ops-watchdog read what it backs up, and make the scratch database of a rehearsal
 * (docs/reference/database-backups.md#rights).
 */
export async function grantReading(adminUrl: string, env: NodeJS.ProcessEnv): Promise<void> {
  const { wal_archive, replication_url_ref } = loadSettings(archiving, {
    file: env["SVC_CONFIG"],
    overrides: (env["SVC_SET"] ?? "").split("\n").filter((line) => line !== ""),
  }).ops_watchdog;
  // The log has everything, the passwords of roles included, so this right goes when it is not needed.
  const replicates = wal_archive && replication_url_ref === "";
  await withClient(adminUrl, async (client) => {
    const { rows } = await client.query<{ reads: boolean; creates: boolean; replicates: boolean }>(
      `select pg_has_role(rolname, 'pg_read_all_data', 'usage') as reads, rolcreatedb as creates,
              rolreplication as replicates
       from pg_roles where rolname = $1`,
      [watchdogRole],
    );
    if (rows[0] && rows[0].replicates !== replicates)
      await client.query(`alter role ${watchdogRole} ${replicates ? "replication" : "noreplication"}`);
    if (!rows[0]?.reads) await client.query(`grant pg_read_all_data to ${watchdogRole}`);
    if (!rows[0]?.creates) await client.query(`alter role ${watchdogRole} createdb`);
  });
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
