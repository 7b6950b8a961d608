// Takes a bundle, records it and deletes what is no longer kept; one process at a time for a database.

import type { databaseBackups } from "@svc/proto";
import type pg from "pg";
import type { WatchdogSettings } from "../config.ts";
import { deleteSurplus, keepOf, listBundles, sweepPartials } from "./folder.ts";
import type { ServerObjects } from "./server-objects.ts";
import { connect } from "./snapshot.ts";
import { type Bundle, writeBundle } from "./write.ts";

type TakeDeps = {
  url: string;
  settings: WatchdogSettings;
  version: string;
  readServers: () => Promise<ServerObjects>;
  /** PATH on which `pg_dump` is looked for. */
  path: string | undefined;
  now: () => Date;
};
type Taken = Bundle & { deleted: string[]; recorded: boolean };

/** Somebody else takes a bundle of this database now. */
export class BusyError extends Error {
  override name = "BusyError";
}

export async function takeBundle(
  deps: TakeDeps,
  label: databaseBackups.BundleLabel,
  options: { inUse?: readonly string[]; step?: (name: string) => void } = {},
): Promise<Taken> {
  const { settings, url, version, path } = deps;
  const dir = settings.bundle_dir;
  const client = await connect(url, "svc-bundle-lock");
  try {
    await lock(client);
    const servers = await deps.readServers();
    if (label === "offsite" && servers.kind === "failed") throw new Error(servers.error);
    await sweepPartials(dir);
    const step = options.step === undefined ? {} : { step: options.step };
    const bundle = await writeBundle({ url, dir, label, version, servers, path, ...step });
    options.step?.("record");
    const recorded = await recordFolder(client, dir);
    options.step?.("retention");
    const deleted = await deleteSurplus(dir, {
      keep: keepOf(settings),
      now: deps.now(),
      justVerified: bundle.name,
      inUse: options.inUse ?? [],
      ...step,
    });
    if (deleted.length > 0) await recordFolder(client, dir);
    return { ...bundle, deleted, recorded };
  } finally {
    await client.end();
  }
}

async function lock(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ held: boolean }>(
    "select pg_try_advisory_lock(hashtext('svc_database_bundle')) as held",
  );
  if (!rows[0]?.held)
    throw new BusyError("another bundle of this database is being taken; try again when it is done");
}

const missing = new Set(["42P01", "3F000"]);

/**
 * Makes the rows of the database those of the folder; false where the database has no such table yet, as before its first
 * migration.
 */
export async function recordFolder(client: pg.Client, dir: string): Promise<boolean> {
  const found = await listBundles(dir);
  const rows = found.map(({ name, label, takenAt, sizeBytes, manifest, problem }) => ({
    name,
    label,
    taken_at: takenAt.toISOString(),
    size_bytes: sizeBytes,
    // Nobody is shown those of a bundle whose manifest cannot be read.
    version: manifest?.version ?? "",
    schema_version: manifest?.schema_version ?? 0,
    dir,
    servers_error: manifest?.servers_error ?? null,
    damage: problem ?? null,
  }));
  const done = await client.query(recordText, [JSON.stringify(rows)]).catch(unlessMissing);
  return done !== undefined;
}

const recordText = `
  with found as (
    select * from jsonb_to_recordset($1::jsonb) as r(name text, label text, taken_at timestamptz, size_bytes bigint,
      version text, schema_version int, dir text, servers_error text, damage text)
  ), gone as (
    delete from ops_watchdog.database_bundles b where not exists (select 1 from found where found.name = b.name)
  )
  insert into ops_watchdog.database_bundles as b
    (name, label, taken_at, size_bytes, version, schema_version, dir, servers_error, damage)
  select name, label, taken_at, size_bytes, version, schema_version, dir, servers_error, damage from found
  on conflict (name) do update set size_bytes = excluded.size_bytes, version = excluded.version, dir = excluded.dir,
    schema_version = excluded.schema_version, servers_error = excluded.servers_error, damage = excluded.damage`;

function unlessMissing(error: pg.DatabaseError): undefined {
  if (missing.has(error.code ?? "")) return undefined;
  throw error;
}
