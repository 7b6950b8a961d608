// Replaces a database by a bundle (docs/reference/database-backups.md#restore).
//
// | Step | Killed here |
// | --- | --- |
// | verify, lock, safety bundle | nothing has changed |
// | close: roles may not sign in, connections end | the old database is whole; run it again, or `svc migrate up` opens it |
// | load: one transaction with all rows and a row of `restores` | the same |
// | streams are deleted and rebuilt | the new rows are there, services stay out; run it again |
// | open: roles may sign in, the row of `restores` is finished | run it again |

import { resetStreams } from "@svc/mesh/migrate";
import pg from "pg";
import { connect } from "../bundle/snapshot.ts";
import { recordFolder } from "../bundle/take.ts";
import { verifyBundle } from "../bundle/verify.ts";
import { type KeptFromBefore, keepClosed, rememberAccounts } from "./accounts.ts";
import { loadBundle, readOutboxIds } from "./load.ts";
import type { OwnedSchema } from "./schemas.ts";

type RestoreDeps = {
  /** A superuser's connection to the database that is replaced. */
  url: string;
  rolePasswords: Readonly<Record<string, string>>;
  nats: { url: string; user: string; password: string; replicas?: number | undefined };
  bundleDir: string;
  schemas: readonly OwnedSchema[];
  /** Takes a pre-restore bundle and returns its name; undefined when there is nothing to lose. */
  takeSafetyBundle: (() => Promise<string | undefined>) | undefined;
  step: (name: string) => void;
};

type Loaded = { rows: number } & KeptFromBefore;
type Restored = { bundle: string; safetyBundle?: string } & Loaded;

/** Key of `svc migrate up`: neither runs while the other does. */
const migrateLock = 7_306_211;

export async function restore(
  deps: RestoreDeps,
  { path, force }: { path: string; force: boolean },
): Promise<Restored> {
  const { step } = deps;
  step("verify");
  const { manifest } = await verifyBundle(path, { rows: true, sidecar: false });
  const client = await connect(deps.url, "svc-restore");
  try {
    await lock(client);
    const others = await otherClients(client, deps.schemas);
    if (others.length > 0 && !force)
      throw new Error(`other clients are connected (${others.join(", ")}); end them, or add --force`);
    step("safety");
    const safetyBundle = await deps.takeSafetyBundle?.();
    step("close");
    await closeToServices(client, deps);
    let loaded: Loaded;
    try {
      loaded = await load(client, deps, { path, manifest });
    } catch (error) {
      // The old database is whole, so services may use it again.
      await openToServices(client, deps);
      throw error;
    }
    await finish(client, deps);
    return { bundle: manifest.name, ...loaded, ...(safetyBundle !== undefined && { safetyBundle }) };
  } finally {
    await client.end();
  }
}

async function load(
  client: pg.Client,
  deps: RestoreDeps,
  about: Pick<Parameters<typeof loadBundle>[1], "path" | "manifest">,
): Promise<Loaded> {
  const outboxIds = await readOutboxIds(client);
  await client.query("begin");
  try {
    const { schemas, step } = deps;
    await rememberAccounts(client);
    await loadBundle(client, { ...about, schemas, withRoles: true, outboxIds, step });
    const kept = await keepClosed(client);
    await client.query("insert into ops_watchdog.restores (bundle) values ($1)", [about.manifest.name]);
    step("commit");
    await client.query("commit");
    step("committed");
    return { rows: about.manifest.counts.rows, ...kept };
  } catch (error) {
    await client.query("rollback").catch(() => undefined);
    throw error;
  }
}

/** What follows the rows; services stay out until all of it is done. */
async function finish(client: pg.Client, deps: RestoreDeps): Promise<void> {
  try {
    deps.step("streams");
    await resetStreams({ ...deps.nats, signal: AbortSignal.timeout(60_000) });
  } catch (error) {
    const reason = (error as Error).message;
    throw new Error(
      `the rows are restored, but the streams of NATS are not rebuilt (${reason}); services stay out until the same command has run again`,
    );
  }
  await recordFolder(client, deps.bundleDir);
  deps.step("open");
  await openToServices(client, deps);
  await client.query("update ops_watchdog.restores set finished_at = now() where finished_at is null");
  deps.step("done");
}

async function lock(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ held: boolean }>("select pg_try_advisory_lock($1) as held", [
    migrateLock,
  ]);
  if (!rows[0]?.held)
    throw new Error("a migration or another restore of this database is running; nothing was changed");
}

/** Clients that are neither services nor this process. */
async function otherClients(client: pg.Client, schemas: readonly OwnedSchema[]): Promise<string[]> {
  const { rows } = await client.query<{ who: string }>(
    `select distinct usename || ' with ' || coalesce(nullif(application_name, ''), 'no name') as who
     from pg_stat_activity
     where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()
       and usename <> all($1)`,
    [schemas.map(({ name }) => `svc_${name}`)],
  );
  return rows.map(({ who }) => who);
}

async function closeToServices(client: pg.Client, { schemas, rolePasswords }: RestoreDeps): Promise<void> {
  for (const { service, name } of schemas) {
    const role = pg.escapeIdentifier(`svc_${name}`);
    const password = rolePasswords[service];
    if (!password) throw new Error(`the file of role passwords has none for ${service}`);
    const { rowCount } = await client.query("select 1 from pg_roles where rolname = $1", [`svc_${name}`]);
    if (!rowCount) await client.query(`create role ${role} password ${pg.escapeLiteral(password)}`);
    await client.query(`alter role ${role} nologin`);
    await client.query(`grant ${role} to current_user`);
  }
  await client.query(
    `select pg_terminate_backend(pid, 10000) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`,
  );
}

async function openToServices(client: pg.Client, { schemas, rolePasswords }: RestoreDeps): Promise<void> {
  for (const { service, name } of schemas) {
    const password = pg.escapeLiteral(rolePasswords[service] ?? "");
    await client.query(`alter role ${pg.escapeIdentifier(`svc_${name}`)} login password ${password}`);
  }
}
