// Proves that a bundle can be restored: into a scratch database, counted, checked, dropped (docs/reference/database-backups.md#rehearsal).

import { randomBytes } from "node:crypto";
import pg from "pg";
import { connect, qualified } from "../bundle/snapshot.ts";
import { verifyBundle } from "../bundle/verify.ts";
import { loadBundle } from "./load.ts";
import type { OwnedSchema } from "./schemas.ts";

const prefix = "svc_rehearsal_";

type Rehearsed = { rows: number; error: string | undefined; durationMs: number };

type Rehearsal = {
  path: string;
  schemas: readonly OwnedSchema[];
  /** Called before each step; tests stop the process there. */
  step: (name: string) => void;
};

/** Never throws for what is wrong with the bundle; the scratch database is gone when it returns. */
export async function rehearse(serverUrl: string, about: Rehearsal): Promise<Rehearsed> {
  const startedAt = performance.now();
  let rows = 0;
  let error: string | undefined;
  try {
    rows = await inScratchDatabase(serverUrl, (client) => restoreInto(client, about));
  } catch (failure) {
    error = (failure as Error).message.split("\n")[0]?.slice(0, 500) || "unknown";
  }
  return { rows, error, durationMs: performance.now() - startedAt };
}

async function restoreInto(client: pg.Client, { path, schemas, step }: Rehearsal): Promise<number> {
  const { manifest } = await verifyBundle(path, { rows: false, sidecar: true });
  await client.query("begin");
  await loadBundle(client, {
    path,
    manifest,
    // What ends with a restore is not ended here: the counts below are those of the bundle.
    schemas: schemas.map((schema) => ({ ...schema, afterRestore: "" })),
    withRoles: false,
    outboxIds: new Map(),
    step,
  });
  await client.query("commit");
  step("count");
  for (const { name, tables } of manifest.schemas) {
    for (const table of tables) {
      if (table.name === "schema_migrations" || table.name === "handled_requests") continue;
      const text = `select count(*)::int as count from ${qualified(name, table.name)}`;
      const counted = (await client.query<{ count: number }>(text)).rows[0]?.count;
      if (counted !== table.rows)
        throw new Error(`${name}.${table.name} has ${counted} rows, the bundle ${table.rows}`);
    }
  }
  for (const { name, invariants } of schemas) await checkInvariants(client, name, invariants);
  return manifest.counts.rows;
}

async function checkInvariants(
  client: pg.Client,
  schema: string,
  invariants: OwnedSchema["invariants"],
): Promise<void> {
  await client.query(`set search_path to ${pg.escapeIdentifier(schema)}`);
  for (const { fact, sql } of invariants) {
    const { rowCount } = await client.query(sql);
    if (rowCount) throw new Error(`${schema}: not true that ${fact} (${rowCount} rows)`);
  }
}

async function inScratchDatabase<T>(serverUrl: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const maintenance = await connect(serverUrl, "svc-rehearsal");
  const name = `${prefix}${randomBytes(6).toString("hex")}`;
  try {
    await dropLeftovers(maintenance);
    await maintenance.query(`create database ${name} template template0`);
    try {
      const url = new URL(serverUrl);
      url.pathname = `/${name}`;
      const client = await connect(url.href, "svc-rehearsal");
      try {
        return await work(client);
      } finally {
        await client.end();
      }
    } finally {
      await maintenance.query(`drop database if exists ${name} with (force)`);
    }
  } finally {
    await maintenance.end();
  }
}

/** Those of killed rehearsals of this role; one rehearsal at a time runs on a server (advisory lock). */
async function dropLeftovers(client: pg.Client): Promise<void> {
  const { rows: locks } = await client.query<{ held: boolean }>(
    "select pg_try_advisory_lock(hashtext('svc_rehearsal')) as held",
  );
  if (!locks[0]?.held) throw new Error("another rehearsal is running");
  const { rows } = await client.query<{ name: string }>(
    `select datname as name from pg_database join pg_roles on pg_roles.oid = datdba
     where datname like '${prefix.replaceAll("_", "\\_")}%' and rolname = current_user`,
  );
  for (const { name } of rows)
    await client.query(`drop database if exists ${pg.escapeIdentifier(name)} with (force)`);
}
