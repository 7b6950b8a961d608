// A real PostgreSQL for tests: a database of its own for each test file, migrated and dropped again.

import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "@svc/local-stack";
import { createLogger } from "@svc/telemetry";
import pg from "pg";
import { type Migration, migrateUp, readMigrations } from "./migrations.ts";
import { type PublishOutbox, startOutboxRelay } from "./outbox.ts";
import { openStore, type Store } from "./store.ts";

const rolePassword = "test";
// One number for all test processes: roles belong to the whole server, so only one of them may make roles at a time.
const serverLock = 7_306_212;

export type TestDatabase = {
  /** Connection URL of the schema's own role. */
  url: string;
  /** Superuser URL of the same database. */
  adminUrl: string;
  schema: string;
  /** Opens a store on it; close it before `drop`. */
  open: <T>(options?: { url?: string; poolSize?: number }) => Store<T>;
  /** Publishes its outbox until closed. */
  relayOutbox: (publish: PublishOutbox, url?: string) => { close: () => Promise<void> };
  /** Runs one statement as the superuser. */
  admin: (sql: string, values?: readonly unknown[]) => Promise<Record<string, unknown>[]>;
  drop: () => Promise<void>;
};

type TestDatabaseOptions = {
  schema: string;
  /** Folder of SQL files, or the migrations themselves. */
  migrations: string | readonly Migration[];
};

/**
 * Makes a database on the server that SVC_TEST_DATABASE_URL names (the test runner starts one for all files), or on a
 * server of its own, and brings one schema up to date.
 */
export async function createTestDatabase(options: TestDatabaseOptions): Promise<TestDatabase> {
  const { schema } = options;
  const migrations =
    typeof options.migrations === "string" ? readMigrations(options.migrations) : options.migrations;
  const server = await findServer();
  const name = `svc_test_${randomBytes(6).toString("hex")}`;
  const adminUrl = withPath(server.url, name);
  const maintain = (sql: string) => asAdmin(server.url, (client) => client.query(sql).then(() => undefined));
  const drop = async () => {
    try {
      await maintain(`drop database if exists ${name} with (force)`);
    } finally {
      await server.stop();
    }
  };
  try {
    await asAdmin(server.url, async (client) => {
      const template = await findTemplate(client, server.url, { schema, migrations });
      await client.query(`create database ${name} template ${template}`);
    });
  } catch (error) {
    await drop();
    throw error;
  }
  const url = new URL(adminUrl);
  url.username = `svc_${schema}`;
  url.password = rolePassword;
  return {
    url: url.href,
    adminUrl,
    schema,
    open: (given = {}) =>
      openStore({
        url: given.url ?? url.href,
        schema,
        poolSize: given.poolSize ?? 4,
        log: createLogger(schema, "silent"),
      }),
    relayOutbox: (publish, from = url.href) =>
      startOutboxRelay({ url: from, schema, publish, log: createLogger(schema, "silent") }),
    admin: (sql, values = []) =>
      asAdmin(adminUrl, async (client) => (await client.query(sql, [...values])).rows),
    drop,
  };
}

/** Columns of every table that a schema's own migrations made, sorted, by table. */
export async function liveColumns({ admin, schema }: TestDatabase): Promise<Record<string, string[]>> {
  const rows = await admin(
    `select table_name, array_agg(column_name::text order by column_name) as columns
     from information_schema.columns
     where table_schema = $1 and table_name not in ('outbox', 'schema_migrations', 'handled_requests') group by table_name`,
    [schema],
  );
  return Object.fromEntries(rows.map((row) => [row["table_name"], (row["columns"] as string[]).sort()]));
}

/** Names of the columns that a test lists for its types, sorted as `liveColumns` has them. */
export function typedColumns(columns: Record<string, Record<string, true>>): Record<string, string[]> {
  return Object.fromEntries(Object.entries(columns).map(([table, of]) => [table, Object.keys(of).sort()]));
}

export type Wire = {
  /** The database's URL through this wire. */
  url: string;
  /** Ends every connection and refuses new ones, as a server that went away does. */
  cut: () => Promise<void>;
  recover: () => Promise<void>;
  /** Lets nothing through, as a server that hangs: connections stay until the returned function is called. */
  pause: () => () => void;
};

/** A relay in front of a database that a test can cut. `cut` it at the end, else it keeps the process alive. */
export async function createWire(databaseUrl: string): Promise<Wire> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const pairs = new Set<readonly [Socket, Socket]>();
  let isPaused = false;
  const join = ([near, far]: readonly [Socket, Socket]) => near.pipe(far).pipe(near);
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.once("close", () => sockets.delete(socket));
  };
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const socket of [near, far]) keep(socket);
    const pair = [near, far] as const;
    pairs.add(pair);
    if (!isPaused) join(pair);
    near.once("close", () => {
      pairs.delete(pair);
      far.destroy();
    });
    far.once("close", () => near.destroy());
  });
  const url = new URL(databaseUrl);
  url.port = String(await listen(server, 0));
  return {
    url: url.href,
    cut: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    recover: async () => void (await listen(server, Number(url.port))),
    pause: () => {
      isPaused = true;
      for (const socket of sockets) socket.unpipe().pause();
      return () => {
        isPaused = false;
        for (const pair of pairs) join(pair);
      };
    },
  };
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}

/** A migrated database to copy, which the first test file that asks for one makes: a copy takes a tenth of the time. */
async function findTemplate(
  client: pg.Client,
  serverUrl: string,
  { schema, migrations }: { schema: string; migrations: readonly Migration[] },
): Promise<string> {
  const digest = createHash("sha256")
    .update(JSON.stringify([schema, migrations]))
    .digest("hex");
  const template = `svc_template_${digest.slice(0, 16)}`;
  const isThere = async () =>
    (await client.query("select 1 from pg_database where datname = $1", [template])).rowCount !== 0;
  if (await isThere()) return template;
  await client.query("select pg_advisory_lock($1)", [serverLock]);
  if (!(await isThere())) {
    const unfinished = `${template}_new`;
    await client.query(`drop database if exists ${unfinished} with (force)`);
    await client.query(`create database ${unfinished}`);
    await migrateUp(withPath(serverUrl, unfinished), { schema, rolePassword, migrations });
    await client.query(`alter database ${unfinished} rename to ${template}`);
  }
  await client.query("select pg_advisory_unlock($1)", [serverLock]);
  return template;
}

async function findServer(): Promise<{ url: string; stop: () => Promise<void> }> {
  // biome-ignore lint/style/noProcessEnv: the test runner tells its server through the environment
  const given = process.env["SVC_TEST_DATABASE_URL"];
  if (given) return { url: given, stop: async () => {} };
  const dir = mkdtempSync(join(tmpdir(), "svc-postgres-"));
  const server = await startPostgres({ dataDir: join(dir, "data"), password: "test", isDurable: false });
  return {
    url: server.url,
    stop: async () => {
      await server.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function asAdmin<R>(url: string, work: (client: pg.Client) => Promise<R>): Promise<R> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function withPath(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}
