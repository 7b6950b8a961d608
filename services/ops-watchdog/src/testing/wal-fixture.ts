// An archive of a PostgreSQL of its own: WAL is of a whole server, so a database of the shared one will not do.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { findPostgresProgram, startPostgres } from "@svc/local-stack";
import { until } from "@svc/local-stack/testing";
import { createLogger } from "@svc/telemetry";
import { connect } from "../bundle/snapshot.ts";
import { type ArchiveDeps, startArchive } from "../wal/archive.ts";
import { coverageOf, readArchive } from "../wal/folder.ts";
import { recoverBundle } from "../wal/recover.ts";

type Server = Awaited<ReturnType<typeof startPostgres>>;

type Row = Record<string, unknown>;
type Sql = (text: string, values?: readonly unknown[]) => Promise<Row[]>;

/** The time of the server, between two transactions. */
async function timeOf(sql: Sql): Promise<Date> {
  await delay(30);
  const [row] = await sql("select date_trunc('milliseconds', clock_timestamp()) as at");
  await delay(30);
  return row?.["at"] as Date;
}

async function recoverOwn(dirs: { walDir: string; bundleDir: string; scratchDir?: string }, at: Date) {
  const program = await findPostgresProgram();
  const readServers = async () => ({ kind: "read" as const, items: [] });
  const rest = { program, version: "0.1.0", readServers, step: () => undefined };
  return recoverBundle({ scratchDir: undefined, ...dirs, ...rest }, at);
}

export async function startWalFixture() {
  const dir = mkdtempSync(join(tmpdir(), "svc-wal-"));
  const dataDir = join(dir, "postgres");
  const password = "secret";
  let server: Server = await startPostgres({ dataDir, password });
  const { port } = server;
  const client = () => connect(server.url, "svc-test");
  const sql: Sql = async (text, values = []) => {
    const one = await client();
    try {
      // Several statements go without parameters.
      const done = values.length > 0 ? one.query<Row>(text, [...values]) : one.query<Row>(text);
      return (await done).rows;
    } finally {
      await one.end();
    }
  };
  await sql(
    `create schema identity; create table identity.schema_migrations (version int, name text);
     create table identity.users (id int primary key, name text)`,
  );
  const walDir = join(dir, "wal");
  const bundleDir = join(dir, "bundles");
  const settings = {
    wal_dir: walDir,
    wal_keep: 604_800_000,
    base_backup_every: 86_400_000,
    bundle_retry: 3_600_000,
  };
  const archive = (about: Partial<ArchiveDeps> = {}) =>
    startArchive({
      ...{ settings, url: server.url, replicationUrl: server.url, now: Date.now, retryMs: 200, markMs: 0 },
      ...{ log: createLogger("wal", "silent"), onReceived: () => undefined },
      ...about,
    });
  const covered = async () => {
    const run = (await readArchive(walDir)).runs.at(-1);
    return run && coverageOf(run);
  };
  return {
    dir,
    dataDir,
    walDir,
    bundleDir,
    settings,
    url: () => server.url,
    sql,
    archive,
    covered,
    runs: async () => (await readArchive(walDir)).runs,
    now: () => timeOf(sql),
    /** The server keeps what nobody has received yet, as `wal_keep_size` does for an operator. */
    keepLog: () => sql("alter system set wal_keep_size = '1GB'").then(() => sql("select pg_reload_conf()")),
    /** Fills a segment, so that a whole one is there. */
    fillSegment: () =>
      sql("select pg_logical_emit_message(true, 'svc', repeat('x', 1000000)) from generate_series(1, 17)"),
    insert: (id: number) => sql("insert into identity.users values ($1, 'amelia')", [id]),
    isCovered: (at: Date) =>
      until(async () => {
        const span = await covered();
        return span !== undefined && span.from <= at && span.until >= at;
      }, 60_000),
    recover: (at: Date) => recoverOwn({ walDir, bundleDir }, at),
    /** From another folder of an archive. */
    recoverFrom: recoverOwn,
    stopServer: () => server.stop(),
    killServer: () => {
      process.kill(server.pid, "SIGKILL");
    },
    startServer: async () => {
      server = await startPostgres({ dataDir, password, port });
    },
    stop: async () => {
      await server.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Ids of the accounts in a bundle. */
export function accountsOf(path: string): string[] {
  const packed = execFileSync("tar", [
    "--extract",
    "--to-stdout",
    "--file",
    path,
    "db/identity/users.copy.zst",
  ]);
  const rows = execFileSync("zstd", ["-dc"], { input: packed, encoding: "utf8" });
  return rows.split("\n").flatMap((line) => (line === "" ? [] : [line.split("\t")[0] ?? ""]));
}

export type WalFixture = Awaited<ReturnType<typeof startWalFixture>>;
