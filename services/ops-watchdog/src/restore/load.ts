// Replaces all schemas of a database by those of a bundle, within the caller's transaction.

import { buildSchema } from "@svc/store";
import type pg from "pg";
import type { Manifest, SchemaEntry, TableEntry } from "../bundle/manifest.ts";
import { hasTable, qualified, schemaNames } from "../bundle/snapshot.ts";
import { DamagedBundleError, unpacked } from "../bundle/verify.ts";
import { copyIn } from "./copy-in.ts";
import { type MemberReader, openMembers } from "./member.ts";
import { type OwnedSchema, problemOfVersions } from "./schemas.ts";

type Load = {
  path: string;
  manifest: Manifest;
  schemas: readonly OwnedSchema[];
  /** Whether each schema belongs to the role of its service; else all belong to who loads. */
  withRoles: boolean;
  /** Lowest next ids of outboxes, by schema, of the database that is replaced. */
  outboxIds: ReadonlyMap<string, bigint>;
  step: (name: string) => void;
};

/** Ids of outbox rows are dedup ids of events: none of the replaced database may come again. */
const outboxGap = 1_000_000n;
const ownTable = "schema_migrations";

/** Throws before anything is dropped when this build cannot read the bundle. */
export async function loadBundle(client: pg.Client, load: Load): Promise<void> {
  const { manifest, schemas, step } = load;
  const problem = problemOfVersions(manifest, schemas);
  if (problem !== undefined) throw new Error(problem);
  step("drop");
  for (const name of schemaNames) await client.query(`drop schema if exists ${quote(name)} cascade`);
  step("create");
  for (const schema of schemas) {
    const entry = manifest.schemas.find(({ name }) => name === schema.name);
    await create(client, load, { schema, from: 0, to: entry?.migrations.length ?? 0 });
  }
  await emptyTables(client);
  const members = await openMembers(load.path, manifest);
  try {
    step("rows");
    for (const placed of await inOrder(client, manifest)) await loadTable(client, members, placed);
  } finally {
    await members.close();
  }
  await enableTriggers(client);
  step("sequences");
  for (const schema of manifest.schemas) await setSequences(client, schema);
  step("newer-migrations");
  for (const schema of schemas) {
    const from = manifest.schemas.find(({ name }) => name === schema.name)?.migrations.length ?? 0;
    await create(client, load, { schema, from, to: schema.migrations.length });
    await raiseOutbox(client, schema.name, load.outboxIds.get(schema.name) ?? 0n);
  }
  // What this build ends may be in tables that an older bundle does not have.
  step("end-sessions");
  for (const schema of schemas) await afterRestore(client, schema);
}

async function create(
  client: pg.Client,
  { withRoles }: Load,
  { schema, from, to }: { schema: OwnedSchema; from: number; to: number },
): Promise<void> {
  const migrations = schema.migrations.slice(from, to);
  await buildSchema(client, {
    schema: schema.name,
    migrations,
    role: withRoles ? `svc_${schema.name}` : undefined,
  });
}

/** Migrations may have put rows into their tables; triggers would announce what is loaded. */
async function emptyTables(client: pg.Client): Promise<void> {
  for (const table of await ownTables(client)) {
    await client.query(`truncate ${table} cascade`);
    await client.query(`alter table ${table} disable trigger user`);
  }
}

async function enableTriggers(client: pg.Client): Promise<void> {
  for (const table of await ownTables(client)) await client.query(`alter table ${table} enable trigger user`);
}

async function ownTables(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ schema: string; name: string }>(
    "select schemaname as schema, tablename as name from pg_tables where schemaname = any($1) and tablename <> $2",
    [schemaNames, ownTable],
  );
  return rows.map(({ schema, name }) => qualified(schema, name));
}

type Placed = { schema: string; table: TableEntry };

/** Tables after those that their foreign keys name. */
async function inOrder(client: pg.Client, manifest: Manifest): Promise<Placed[]> {
  const { rows } = await client.query<{ table: string; needs: string }>(
    `select distinct c.conrelid::regclass::text as table, c.confrelid::regclass::text as needs
     from pg_constraint c where c.contype = 'f' and c.conrelid <> c.confrelid`,
  );
  const waiting = new Map(
    manifest.schemas.flatMap(({ name, tables }) =>
      tables
        .filter((table) => table.name !== ownTable)
        .map((table): [string, Placed] => [`${name}.${table.name}`, { schema: name, table }]),
    ),
  );
  const ordered: Placed[] = [];
  while (waiting.size > 0) {
    const ready = [...waiting].filter(
      ([name]) => !rows.some((row) => row.table === name && waiting.has(row.needs)),
    );
    if (ready.length === 0) throw new Error(`foreign keys form a circle: ${[...waiting.keys()].join(", ")}`);
    for (const [name, placed] of ready) {
      waiting.delete(name);
      ordered.push(placed);
    }
  }
  return ordered;
}

async function loadTable(client: pg.Client, members: MemberReader, { schema, table }: Placed): Promise<void> {
  const columns = table.columns.map(quote).join(", ");
  const text = `copy ${qualified(schema, table.name)} (${columns}) from stdin`;
  const rows = await copyIn(client, text, unpacked(members.read(table.member), table.member));
  if (rows !== table.rows)
    throw new DamagedBundleError(`${table.member} has ${rows} rows, the manifest says ${table.rows}`);
}

async function setSequences(client: pg.Client, { name, sequences }: SchemaEntry): Promise<void> {
  for (const sequence of sequences) {
    if (sequence.last === null) continue;
    await client.query("select setval($1::regclass, $2::bigint)", [
      qualified(name, sequence.name),
      sequence.last,
    ]);
  }
}

async function afterRestore(client: pg.Client, schema: OwnedSchema): Promise<void> {
  await client.query(`set local search_path to ${quote(schema.name)}`);
  if (schema.afterRestore !== "") await client.query(schema.afterRestore);
  // Outcomes of requests that the restored database never saw.
  if (await hasTable(client, "handled_requests")) await client.query("delete from handled_requests");
  await client.query("set local search_path to default");
}

async function raiseOutbox(client: pg.Client, schema: string, before: bigint): Promise<void> {
  const sequence = qualified(schema, "outbox_id_seq");
  const { rows } = await client.query<{ last: string }>(`select last_value::text as last from ${sequence}`);
  const last = BigInt(rows[0]?.last ?? "0");
  const next = (last > before ? last : before) + outboxGap;
  await client.query("select setval($1::regclass, $2::bigint)", [sequence, next.toString()]);
}

/** Last ids of the outboxes of a database, for `outboxIds`. */
export async function readOutboxIds(client: pg.Client): Promise<Map<string, bigint>> {
  const { rows } = await client.query<{ schema: string; last: string | null }>(
    `select schemaname as schema, last_value::text as last from pg_sequences
     where schemaname = any($1) and sequencename = 'outbox_id_seq'`,
    [schemaNames],
  );
  return new Map(rows.map(({ schema, last }) => [schema, BigInt(last ?? "0")]));
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
