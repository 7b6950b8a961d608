import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";

/** One forward-only step: `0002-accounts.sql` is version 2. */
export type Migration = { version: number; name: string; sql: string };

/** Why the database and this build do not fit, in one sentence (docs/reference/data.md#database). */
export class SchemaError extends Error {
  override name = "SchemaError";
}

const outboxFolder = fileURLToPath(new URL("../migrations/", import.meta.url));

/**
 * The migrations of a schema in order: the outbox that every schema has, then `NNNN-name.sql` of its own folder from
 * 0002 on; none of its own when it has no folder. Throws when a number is missing or doubled.
 */
export function readMigrations(folder: string | undefined): Migration[] {
  const files = [outboxFolder, ...(folder && existsSync(folder) ? [folder] : [])].flatMap((each) =>
    readdirSync(each)
      .filter((file) => file.endsWith(".sql"))
      .sort()
      .map((file) => join(each, file)),
  );
  return files.map((path, index) => {
    const file = basename(path);
    const version = Number.parseInt(file.slice(0, 4), 10);
    if (version !== index + 1) throw new Error(`${path}: migrations are numbered without gaps, from 0002 on`);
    return { version, name: file.slice(5, -4), sql: readFileSync(path, "utf8") };
  });
}

type MigrationTarget = {
  /** Schema and, with the prefix `svc_`, role of one service. */
  schema: string;
  rolePassword: string;
  migrations: readonly Migration[];
};

const lockKey = 7_306_211;

/**
 * Brings one schema up to date: makes the role and the schema when missing, then applies what is not applied yet,
 * each migration in a transaction of its own, all under an advisory lock. Returns the names of those applied.
 * Rejects with `SchemaError` when the database is newer than this build.
 */
export async function migrateUp(adminUrl: string, target: MigrationTarget): Promise<string[]> {
  const client = new pg.Client({ connectionString: adminUrl, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    await client.query("select pg_advisory_lock($1)", [lockKey]);
    await ensureRole(client, target);
    const applied = await appliedVersion(client, target.schema);
    refuseNewer(target.schema, applied, target.migrations);
    const pending = target.migrations.filter((migration) => migration.version > applied);
    for (const migration of pending) await apply(client, target.schema, migration);
    return pending.map((migration) => migration.name);
  } finally {
    await client.end();
  }
}

async function ensureRole(client: pg.Client, target: MigrationTarget): Promise<void> {
  const role = pg.escapeIdentifier(`svc_${target.schema}`);
  const password = pg.escapeLiteral(target.rolePassword);
  const { rowCount } = await client.query("select 1 from pg_roles where rolname = $1", [
    `svc_${target.schema}`,
  ]);
  await client.query(`${rowCount ? "alter" : "create"} role ${role} login password ${password}`);
  await client.query(`grant ${role} to current_user`);
  await ensureSchema(client, target.schema, role);
}

/** Without a role the schema belongs to who makes it. */
async function ensureSchema(client: pg.Client, name: string, role: string | undefined): Promise<void> {
  const schema = pg.escapeIdentifier(name);
  await client.query(`create schema if not exists ${schema}${role ? ` authorization ${role}` : ""}`);
  await client.query(
    `create table if not exists ${schema}.schema_migrations
       (version int primary key, name text not null, applied_at timestamptz not null default now())`,
  );
  if (role) await client.query(`grant select on ${schema}.schema_migrations to ${role}`);
}

/**
 * Makes a schema, or more of it, within a transaction of the caller. The role exists already; without one everything belongs
 * to the connected role. The search path is the default one afterwards.
 */
export async function buildSchema(
  client: pg.Client,
  about: { schema: string; migrations: readonly Migration[]; role: string | undefined },
): Promise<void> {
  await ensureSchema(client, about.schema, about.role && pg.escapeIdentifier(about.role));
  for (const migration of about.migrations) await applyWithin(client, about, migration);
  await client.query("set local search_path to default");
}

async function appliedVersion(client: pg.Client | pg.Pool, schema: string): Promise<number> {
  const table = `${pg.escapeIdentifier(schema)}.schema_migrations`;
  const { rows } = await client.query<{ version: number }>(
    `select coalesce(max(version), 0) as version from ${table}`,
  );
  return rows[0]?.version ?? 0;
}

async function applyWithin(
  client: pg.Client,
  { schema, role }: { schema: string; role: string | undefined },
  { version, name: migration, sql }: Migration,
): Promise<void> {
  const name = pg.escapeIdentifier(schema);
  if (role) await client.query(`set local role ${pg.escapeIdentifier(role)}`);
  await client.query(`set local search_path to ${name}`);
  await client.query(sql);
  if (role) await client.query("reset role");
  await client.query(`insert into ${name}.schema_migrations (version, name) values ($1, $2)`, [
    version,
    migration,
  ]);
}

async function apply(client: pg.Client, schema: string, migration: Migration): Promise<void> {
  await client.query("begin");
  try {
    await applyWithin(client, { schema, role: `svc_${schema}` }, migration);
    await client.query("commit");
  } catch (error) {
    await client.query("rollback");
    const reason = (error as Error).message;
    throw new SchemaError(`schema ${schema}: migration ${migration.name} failed and was undone: ${reason}`);
  }
}

function refuseNewer(schema: string, applied: number, migrations: readonly Migration[]): void {
  if (applied <= migrations.length) return;
  throw new SchemaError(
    `schema is newer: ${schema} is at migration ${applied}, this build knows ${migrations.length}; install the newer release`,
  );
}

/**
 * Compares a schema with the migrations of this build; used by a service before it serves. Rejects with
 * `SchemaError` when the database is older (`run svc migrate up`) or newer, and as `pg` does when it is not there.
 */
export async function checkMigrations(
  url: string,
  schema: string,
  migrations: readonly Migration[],
): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  await client.connect();
  try {
    const applied = await appliedVersion(client as pg.Client, schema).catch((error: { code?: string }) => {
      if (error.code === "42P01" || error.code === "3F000") return 0;
      throw error;
    });
    refuseNewer(schema, applied, migrations);
    if (applied < migrations.length) {
      throw new SchemaError(
        `the database is older than this build (schema ${schema} is at ${applied} of ${migrations.length}): run svc migrate up`,
      );
    }
  } finally {
    await client.end();
  }
}
