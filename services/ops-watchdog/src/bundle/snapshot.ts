// One consistent view of all schemas: the tables are listed and locked against changes of their shape before a row is read.

import { owners } from "@svc/proto";
import pg from "pg";

export type SnapshotTable = { schema: string; name: string; columns: string[] };
export type Snapshot = {
  client: pg.Client;
  /** Version of the server, for example 18.4. */
  server: string;
  takenAt: Date;
  schemas: {
    name: string;
    migrations: { version: number; name: string }[];
    tables: SnapshotTable[];
    sequences: { name: string; last: string | null }[];
  }[];
  /** For programs that read the same snapshot. */
  id: string;
  close: () => Promise<void>;
};

export const schemaNames = owners.map((owner) => owner.replaceAll("-", "_"));

/** Opens a connection of its own without the time limits of a service. */
export async function connect(url: string, name: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    application_name: name,
    options: "-c statement_timeout=0 -c idle_in_transaction_session_timeout=0 -c idle_session_timeout=0",
  });
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

export async function openSnapshot(url: string): Promise<Snapshot> {
  const client = await connect(url, "svc-bundle");
  try {
    await client.query("begin isolation level repeatable read read only");
    const {
      rows: [about],
    } = await client.query<{ server: string; at: Date; id: string }>(
      "select current_setting('server_version') as server, now() as at, pg_export_snapshot() as id",
    );
    if (!about) throw new Error("the database does not answer");
    const tables = await listTables(client);
    await lock(client, tables);
    const schemas = [];
    for (const name of schemaNames) {
      const own = tables.filter(({ schema }) => schema === name);
      if (own.length === 0) continue;
      schemas.push({
        name,
        tables: own,
        migrations: await listMigrations(client, name),
        sequences: await listSequences(client, name),
      });
    }
    const server = about.server.split(" ")[0] ?? "";
    return { client, server, takenAt: about.at, id: about.id, schemas, close: () => client.end() };
  } catch (error) {
    await client.end();
    throw error;
  }
}

async function listTables(client: pg.Client): Promise<SnapshotTable[]> {
  const { rows } = await client.query<SnapshotTable>(
    `select n.nspname as schema, c.relname as name,
            array(select a.attname::text from pg_attribute a
                  where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
                  order by a.attnum) as columns
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = any($1) and c.relkind in ('r', 'p') and not c.relispartition
     order by 1, 2`,
    [schemaNames],
  );
  return rows;
}

async function lock(client: pg.Client, tables: readonly SnapshotTable[]): Promise<void> {
  if (tables.length === 0) return;
  const names = tables.map(({ schema, name }) => qualified(schema, name)).join(", ");
  await client.query("set local lock_timeout = '60s'");
  await client.query(`lock table ${names} in access share mode`);
}

async function listMigrations(client: pg.Client, schema: string) {
  const { rows } = await client.query<{ version: number; name: string }>(
    `select version, name from ${qualified(schema, "schema_migrations")} order by version`,
  );
  return rows;
}

/** `table` is quoted where it has to be; without a schema it is looked up on the search path. */
export async function hasTable(client: pg.Client, table: string): Promise<boolean> {
  const { rows } = await client.query<{ there: boolean }>("select to_regclass($1) is not null as there", [
    table,
  ]);
  return rows[0]?.there === true;
}

/** Applied migrations of all schemas together, as `schema_version` of a manifest counts them. */
export async function countMigrations(client: pg.Client): Promise<number> {
  let count = 0;
  for (const schema of schemaNames) {
    if (await hasTable(client, qualified(schema, "schema_migrations")))
      count += (await listMigrations(client, schema)).length;
  }
  return count;
}

async function listSequences(client: pg.Client, schema: string) {
  const { rows } = await client.query<{ name: string; last: string | null }>(
    "select sequencename::text as name, last_value::text as last from pg_sequences where schemaname = $1 order by 1",
    [schema],
  );
  return rows;
}

export function qualified(schema: string, name: string): string {
  return `${pg.escapeIdentifier(schema)}.${pg.escapeIdentifier(name)}`;
}
