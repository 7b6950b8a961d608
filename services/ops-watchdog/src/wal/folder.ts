// The folder of the archive (docs/reference/database-backups.md#point-in-time). Files are the truth.
//
// run-<stamp>/            one stretch of the log without a gap, of one server and one timeline
//   run.json              which server, and why the run began
//   received.json         how far it is on the disk
//   wal/<segment>         16 MiB, with <segment>.sha256; the open one is <segment>.partial
//   base-<stamp>/         base.tar.zst, backup_manifest, base.json

import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { parseLsn, parseSegment } from "./lsn.ts";

const lsn = z.string().regex(/^[0-9A-F]{1,8}\/[0-9A-F]{1,8}$/);

const RunFile = z.strictObject({
  system: z.string().regex(/^\d{1,20}$/),
  timeline: z.number().int().min(1),
  started_at: z.iso.datetime(),
  from: lsn,
  reason: z.string(),
});
export type RunFile = z.output<typeof RunFile>;

const Received = z.strictObject({ until: z.iso.datetime(), lsn });

export const BaseFile = z.strictObject({
  start: lsn,
  stop: lsn,
  started_at: z.iso.datetime(),
  ended_at: z.iso.datetime(),
  /** Version of the server, for example 18.4. */
  postgresql: z.string(),
  database: z.string(),
  /** The superuser that every cluster has. */
  superuser: z.string(),
  bytes: z.number().int(),
});
export type BaseFile = z.output<typeof BaseFile>;

export type Base = { name: string; path: string; about: BaseFile; endedAt: Date };
export type Run = {
  name: string;
  path: string;
  about: RunFile;
  /** Whole segments by their beginning, in order. */
  segments: { name: string; start: bigint }[];
  /** Beginning of the open segment. */
  partial: { name: string; start: bigint } | undefined;
  received: { until: Date; lsn: bigint } | undefined;
  /** Oldest first. */
  bases: Base[];
};

const runName = /^run-\d{8}T\d{9}Z$/;
const baseName = /^base-\d{8}T\d{9}Z$/;

export function stampOf(at: Date): string {
  return at.toISOString().replaceAll(/[-:.]/g, "");
}

/** Every run, oldest first; none when there is no folder. What cannot be read is named in `problems`. */
export async function readArchive(dir: string): Promise<{ runs: Run[]; problems: string[] }> {
  const names = await namesIn(dir);
  const runs: Run[] = [];
  const problems: string[] = [];
  for (const name of names.filter((one) => runName.test(one)).sort()) {
    try {
      runs.push(await readRun(join(dir, name), name, problems));
    } catch (error) {
      problems.push(`${name} cannot be read: ${(error as Error).message.split("\n")[0]}`);
    }
  }
  return { runs, problems };
}

async function readRun(path: string, name: string, problems: string[]): Promise<Run> {
  const about = parseRun(await readFile(join(path, "run.json"), "utf8"));
  const files = (await namesIn(join(path, "wal"))).sort();
  const segments = files.flatMap((file) => {
    const found = parseSegment(file);
    return found ? [{ name: file, start: found.start }] : [];
  });
  const open = files.findLast((file) => file.endsWith(".partial"));
  const openStart = open === undefined ? undefined : parseSegment(open.slice(0, -".partial".length))?.start;
  const received = await readReceived(path);
  const bases: Base[] = [];
  for (const file of (await namesIn(path)).filter((one) => baseName.test(one)).sort()) {
    const base = await readBaseFile(join(path, file), file).catch((error: Error) => error);
    if (base instanceof Error)
      problems.push(`${name}/${file} cannot be read: ${base.message.split("\n")[0]}`);
    else bases.push(base);
  }
  const partial =
    open !== undefined && openStart !== undefined ? { name: open, start: openStart } : undefined;
  return { name, path, about, segments, partial, received, bases };
}

async function readBaseFile(path: string, name: string): Promise<Base> {
  return parseBase(await readFile(join(path, "base.json"), "utf8"), path, name);
}

/** The content of `run.json`. */
export const parseRun = (text: string): RunFile => RunFile.parse(JSON.parse(text));

/** The content of `base.json`. */
export function parseBase(text: string, path: string, name: string): Base {
  const about = BaseFile.parse(JSON.parse(text));
  return { name, path, about, endedAt: new Date(about.ended_at) };
}

/** The content of `received.json`. */
export function parseReceived(text: string): NonNullable<Run["received"]> {
  const { until, lsn: at } = Received.parse(JSON.parse(text));
  return { until: new Date(until), lsn: parseLsn(at) };
}

/** A file that a power cut tore says nothing, so nothing counts as received until the next one. */
async function readReceived(path: string): Promise<Run["received"]> {
  try {
    return parseReceived(await readFile(join(path, "received.json"), "utf8"));
  } catch {
    return undefined;
  }
}

export async function namesIn(dir: string): Promise<string[]> {
  try {
    return await readdir(dir);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** A base backup can be recovered once the log is there to its end. */
export function isUsable(run: Run, base: Base): boolean {
  return run.received !== undefined && run.received.lsn >= parseLsn(base.about.stop);
}

/** From when until when a state can be recovered; undefined for a run that has no usable base yet. */
export function coverageOf(run: Run): { from: Date; until: Date } | undefined {
  const first = run.bases.find((base) => isUsable(run, base));
  const until = run.received?.until;
  return first && until && until >= first.endedAt ? { from: first.endedAt, until } : undefined;
}

export async function sizeOf(dir: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(dir, { withFileTypes: true, recursive: true }).catch(() => [])) {
    if (!entry.isFile()) continue;
    bytes += (await stat(join(entry.parentPath, entry.name)).catch(() => undefined))?.size ?? 0;
  }
  return bytes;
}
