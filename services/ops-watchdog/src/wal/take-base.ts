// Takes a base backup: the files of the database as they are while it runs, from which the log is applied.

import { mkdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { constants, createZstdCompress } from "node:zlib";
import type pg from "pg";
import { syncPath, writeDurably, writeInto } from "../bundle/durable.ts";
import { type BaseFile, namesIn, stampOf } from "./folder.ts";
import { formatLsn } from "./lsn.ts";
import { readBase } from "./read-base.ts";
import { connectReplication, streamBase } from "./replication.ts";

const compressionLevel = 1;

type TakeBase = {
  /** An ordinary connection, which tells the time of the server and its names. */
  sql: pg.Client;
  replicationUrl: string;
  timeline: number;
  /** Folder of the run. */
  dir: string;
  signal: AbortSignal;
  step: (name: string) => void;
};

/** Written to a hidden folder, read back against the manifest of the server, and then named. */
export async function takeBase(deps: TakeBase): Promise<string> {
  const { sql, dir, step } = deps;
  const before = await askServer(sql);
  const name = `base-${stampOf(before.now)}`;
  const partial = join(dir, `.${name}.partial`);
  await mkdir(partial, { mode: 0o700 });
  try {
    const { start, stop, manifest } = await stream(deps, partial, name);
    // The state is consistent from here on, by the clock of the server, which also stamps what is committed.
    const after = await askServer(sql);
    step("base-manifest");
    await writeDurably(join(partial, "backup_manifest"), manifest);
    step("base-read-back");
    await readBase(partial);
    const { size } = await stat(join(partial, "base.tar.zst"));
    const about: BaseFile = {
      start: formatLsn(start),
      stop: formatLsn(stop),
      started_at: before.now.toISOString(),
      ended_at: after.now.toISOString(),
      postgresql: after.postgresql,
      database: after.database,
      superuser: after.superuser,
      bytes: size,
    };
    await writeDurably(join(partial, "base.json"), JSON.stringify(about));
    await syncPath(partial);
    step("base-name");
    await rename(partial, join(dir, name));
    await syncPath(dir);
    step("base-named");
    return name;
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

async function stream({ replicationUrl, timeline, signal, step }: TakeBase, partial: string, label: string) {
  const client = await connectReplication(replicationUrl);
  try {
    step("base-stream");
    const base = streamBase(client, label);
    const pack = createZstdCompress({
      params: { [constants.ZSTD_c_compressionLevel]: compressionLevel, [constants.ZSTD_c_checksumFlag]: 1 },
    });
    const file = await writeInto(join(partial, "base.tar.zst"), "wx");
    await pipeline(base.tar, pack, file, { signal });
    const about = base.about();
    if (about.timeline !== timeline) throw new Error("the server changed its timeline meanwhile");
    return about;
  } finally {
    // Not awaited: a server that hangs does not say goodbye.
    client.end().catch(() => undefined);
  }
}

/** What killed processes left; one process at a time works on a run. */
export async function sweepBases(dir: string): Promise<void> {
  for (const name of await namesIn(dir))
    if (/^\.base-.*\.partial$/.test(name)) await rm(join(dir, name), { recursive: true, force: true });
}

export async function askServer(sql: pg.Client) {
  const { rows } = await sql.query<{
    now: Date;
    postgresql: string;
    database: string;
    superuser: string;
    segment: string;
    tablespaces: number;
  }>(
    `select clock_timestamp() as now, current_setting('server_version') as postgresql, current_database() as database,
            (select rolname::text from pg_roles where oid = 10) as superuser,
            current_setting('wal_segment_size') as segment,
            (select count(*)::int from pg_tablespace where spcname not in ('pg_default', 'pg_global')) as tablespaces`,
  );
  const [about] = rows;
  if (!about) throw new Error("the database does not answer");
  if (about.tablespaces > 0)
    throw new Error("the database has tablespaces of its own, which a base backup of svc does not take");
  if (about.segment !== "16MB")
    throw new Error(`the segments of the log have ${about.segment}, and svc archives those of 16MB`);
  return { ...about, postgresql: about.postgresql.split(" ")[0] ?? "" };
}
