// Takes one bundle: a snapshot of the database and the server objects in one file (docs/reference/database-backups.md#format).

import { existsSync } from "node:fs";
import { chmod, link, mkdir, open, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline, type TransformOptions } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { constants, createZstdCompress, type ZstdCompress, type ZstdOptions } from "node:zlib";
import type { databaseBackups } from "@svc/proto";
import { copyOut } from "./copy-out.ts";
import { dumpMember, dumpOf, findDump } from "./dump.ts";
import { syncPath } from "./durable.ts";
import {
  formatVersion,
  type Manifest,
  type MemberEntry,
  type SchemaEntry,
  serversMember,
} from "./manifest.ts";
import { bundleName } from "./name.ts";
import type { ServerObjects } from "./server-objects.ts";
import { openSnapshot, qualified, type Snapshot, type SnapshotTable } from "./snapshot.ts";
import { sidecarOf, type Verified, verifyBundle } from "./verify.ts";
import { type BundleFile, writeBundleFile } from "./write-file.ts";

type BundleRequest = {
  /** Connection that may read all tables. */
  url: string;
  dir: string;
  /** Folder among whose bundles it belongs in the end, where that is not `dir`. */
  among?: string;
  label: databaseBackups.BundleLabel;
  /** Version of svc. */
  version: string;
  servers: ServerObjects;
  /** The time whose state the database has, where it was recovered to one. */
  recoveredTo?: Date;
  /** PATH on which `pg_dump` is looked for; without it there is no dump. */
  path?: string | undefined;
  /** Called before each step; tests stop the process there. */
  step?: (name: string) => void;
};

export type Bundle = Verified & {
  name: string;
  path: string;
  /** Why a dump could not be made; the rows are there. */
  dumpError?: string;
};

/** Rows of audit logs take a third less time than at level 3, and no more room. */
const compressionLevel = 1;
/** A block of rows mostly becomes one chunk; each more would be another turn of the packing thread. */
const packedBytes = 128 * 1024;

/**
 * Writes a hidden partial file, reads it back and gives it its name, which has the second of its snapshot: one that is taken is
 * waited for. What a killed process leaves is swept by the next.
 */
export async function writeBundle(request: BundleRequest): Promise<Bundle> {
  const { dir, step = () => undefined } = request;
  await mkdir(dir, { recursive: true, mode: 0o700 });
  await chmod(dir, 0o700);
  step("snapshot");
  const { snapshot, name } = await openNamed(request);
  try {
    const partial = join(dir, `.${name}.partial`);
    const path = join(dir, name);
    try {
      const dumpError = await writePartial(partial, { ...request, step, snapshot, name });
      step("read-back");
      // The rows were counted on their way; what is on the disk is compared byte by byte.
      const verified = await verifyBundle(partial, { rows: false, sidecar: false });
      step("sidecar");
      await writeFile(sidecarOf(path), `${verified.sha256}  ${name}\n`, {
        mode: 0o600,
        flag: "wx",
        flush: true,
      });
      step("name");
      await link(partial, path);
      step("linked");
      await syncPath(dir);
      return { ...verified, name, path, ...(dumpError !== undefined && { dumpError }) };
    } finally {
      await rm(partial, { force: true });
    }
  } finally {
    await snapshot.close();
  }
}

/** A snapshot, and a name that no bundle has; one whose name is taken is closed, and another opened in the next second. */
async function openNamed(request: BundleRequest): Promise<{ snapshot: Snapshot; name: string }> {
  const { url, dir, among = dir, label } = request;
  for (;;) {
    const snapshot = await openSnapshot(url);
    const name = bundleName(label, snapshot.takenAt);
    const paths = [dir, among].map((folder) => join(folder, name));
    if (!paths.some((path) => existsSync(path) || existsSync(sidecarOf(path)))) return { snapshot, name };
    await snapshot.close();
    await delay(1_000 - snapshot.takenAt.getMilliseconds());
  }
}

type Writing = BundleRequest & { snapshot: Snapshot; name: string; step: (name: string) => void };

/** Returns why a dump could not be made. */
async function writePartial(partial: string, writing: Writing): Promise<string | undefined> {
  const { snapshot, servers } = writing;
  const handle = await open(partial, "wx", 0o600);
  try {
    const manifest = emptyManifest(writing);
    const room = JSON.stringify(manifest).length + roomPerMember * (manifest.members.length + 1) + 4_096;
    manifest.members = [];
    const file = writeBundleFile(handle, { manifestBytes: room, takenAt: snapshot.takenAt });
    writing.step("tables");
    for (const schema of manifest.schemas) await addTables(file, { schema, manifest, snapshot });
    writing.step("servers");
    if (servers.kind === "read") {
      manifest.members.push(await file.add(serversMember, [Buffer.from(JSON.stringify(servers.items))]));
    }
    const dumpError = await addDump(file, { manifest, writing });
    manifest.counts.accounts = rowsOf(manifest, "identity", "users");
    manifest.counts.servers = rowsOf(manifest, "lifecycle", "servers");
    writing.step("manifest");
    await file.finish(manifest);
    return dumpError;
  } finally {
    await handle.close();
  }
}

/** Digits of a size and of a row count beyond the zeros that are reserved. */
const roomPerMember = 64;

function emptyManifest({ snapshot, label, version, servers, name, recoveredTo }: Writing): Manifest {
  const schemas = snapshot.schemas.map(
    (schema): SchemaEntry => ({
      ...schema,
      tables: schema.tables.map(({ name: table, columns }) => ({
        name: table,
        columns,
        member: `db/${schema.name}/${table}.copy.zst`,
        rows: 0,
      })),
    }),
  );
  const blank = { size: 0, sha256: "0".repeat(64) };
  return {
    format: formatVersion,
    name,
    label,
    taken_at: snapshot.takenAt.toISOString(),
    version,
    schema_version: schemas.reduce((sum, { migrations }) => sum + migrations.length, 0),
    postgresql: snapshot.server,
    counts: { accounts: 0, servers: 0, rows: 0 },
    ...(servers.kind === "read"
      ? { server_objects: servers.items.length }
      : { servers_error: servers.error }),
    ...(recoveredTo && { recovered_to: recoveredTo.toISOString() }),
    schemas,
    members: schemas.flatMap(({ tables }) =>
      tables.map(({ member }): MemberEntry => ({ ...blank, name: member })),
    ),
  };
}

async function addTables(
  file: BundleFile,
  { schema, manifest, snapshot }: { schema: SchemaEntry; manifest: Manifest; snapshot: Snapshot },
): Promise<void> {
  for (const table of schema.tables) {
    const copy = copyOut(snapshot.client, copyText({ schema: schema.name, ...table }));
    const pack = createPacker();
    pipeline(copy.rows, pack, () => undefined);
    manifest.members.push(await file.add(table.member, pack as AsyncIterable<Buffer>));
    table.rows = copy.count();
    manifest.counts.rows += table.rows;
  }
}

/** It takes one block at a time: the next one is only asked for, and the last one freed, once it was packed. */
function createPacker(): ZstdCompress {
  // The types do not know that it takes the options of a stream too.
  const options: ZstdOptions & TransformOptions = {
    params: { [constants.ZSTD_c_compressionLevel]: compressionLevel, [constants.ZSTD_c_checksumFlag]: 1 },
    chunkSize: packedBytes,
    writableHighWaterMark: 1,
  };
  return createZstdCompress(options);
}

/** The last member: one that fails is cut off, and a restore needs the rows alone. */
async function addDump(
  file: BundleFile,
  { manifest, writing }: { manifest: Manifest; writing: Writing },
): Promise<string | undefined> {
  const { path = "", url, snapshot, step } = writing;
  const version = await findDump(path, snapshot.server);
  if (version === undefined) return undefined;
  step("dump");
  const schemas = snapshot.schemas.map(({ name }) => name);
  try {
    const bytes = dumpOf({ path, url, snapshot: snapshot.id, schemas });
    manifest.members.push(await file.add(dumpMember, bytes));
    manifest.pg_dump = version;
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function copyText({ schema, name, columns }: SnapshotTable): string {
  const list = columns.map((column) => `"${column}"`).join(", ");
  return `copy ${qualified(schema, name)} (${list}) to stdout`;
}

function rowsOf(manifest: Manifest, schema: string, table: string): number {
  const tables = manifest.schemas.find(({ name }) => name === schema)?.tables ?? [];
  return tables.find(({ name }) => name === table)?.rows ?? 0;
}
