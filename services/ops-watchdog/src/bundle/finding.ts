// What the newest verification of a bundle found. It is a file beside the bundle, so that it outlives a restore of the database and
// is known without one (docs/reference/database-backups.md#verification).

import { open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { z } from "zod";
import type { Manifest } from "./manifest.ts";
import { parseBundleName } from "./name.ts";
import { DamagedBundleError, verifyBundle } from "./verify.ts";

const Finding = z.strictObject({
  verified_at: z.iso.datetime(),
  /** Of the file that was read: another size or time is another file. */
  size: z.number().int(),
  modified_at: z.iso.datetime(),
  /** Stays until a verification finds the bundle whole. */
  damage: z.string().optional(),
});
type Finding = z.output<typeof Finding>;

export function findingOf(path: string): string {
  return `${path}.verified`;
}

/** Undefined when nothing was found yet, or nothing that can be read. */
export async function readFinding(path: string): Promise<Finding | undefined> {
  try {
    return Finding.parse(JSON.parse(await readFile(findingOf(path), "utf8")));
  } catch {
    return undefined;
  }
}

type Verification = {
  ok: boolean;
  name?: string;
  counts?: Manifest["counts"];
  problem?: string;
  /** Why the result is not written beside the bundle. */
  not_recorded?: string;
};

/** Reads a bundle to its last row and, if it is one of the folder, writes down the result; undefined when it is gone. */
export async function verifyAndRecord(
  path: string,
  about: {
    dir: string;
    now: Date;
    /** Called before the result is written and before it counts; tests stop the process there. */
    step?: (name: string) => void;
  },
): Promise<Verification | undefined> {
  const { dir, now, step = () => undefined } = about;
  const before = await statOf(path);
  if (!before) return undefined;
  const isOfFolder = dirname(resolve(path)) === resolve(dir) && parseBundleName(basename(path)) !== undefined;
  const result = await verifyOne(path, isOfFolder);
  // Retention may delete a bundle while it is read.
  if (!(await statOf(path))) return undefined;
  if (!isOfFolder) return result;
  step("finding");
  try {
    const finding = {
      verified_at: now.toISOString(),
      size: before.size,
      modified_at: before.mtime.toISOString(),
      ...(result.problem !== undefined && { damage: result.problem }),
    };
    await writeFinding(path, finding, step);
    return result;
  } catch (error) {
    return { ...result, not_recorded: (error as Error).message };
  }
}

async function verifyOne(path: string, isOfFolder: boolean): Promise<Verification> {
  try {
    const { manifest } = await verifyBundle(path, { rows: true, sidecar: true });
    const { name, counts } = manifest;
    if (isOfFolder && name !== basename(path))
      return { ok: false, problem: `it is ${name} under another name` };
    return { ok: true, name, counts };
  } catch (error) {
    if (error instanceof DamagedBundleError) return { ok: false, problem: error.message };
    const { syscall, message } = error as NodeJS.ErrnoException;
    if (syscall === undefined) throw error;
    return { ok: false, problem: `it cannot be read: ${message}` };
  }
}

async function writeFinding(path: string, finding: Finding, step: (name: string) => void): Promise<void> {
  const partial = join(dirname(path), `.${basename(path)}.verified.${process.pid}.partial`);
  try {
    const file = await open(partial, "w", 0o600);
    try {
      await file.writeFile(JSON.stringify(finding));
      await file.sync();
    } finally {
      await file.close();
    }
    step("finding-name");
    await rename(partial, findingOf(path));
  } finally {
    await rm(partial, { force: true });
  }
}

/** Name of the bundle whose last verification is the longest ago, when that is `everyMs` or more; 0 = never. */
export async function findDue(
  dir: string,
  { now, everyMs }: { now: number; everyMs: number },
): Promise<string | undefined> {
  if (everyMs === 0) return undefined;
  const names: string[] = await readdir(dir).catch(() => []);
  const verified = await Promise.all(
    names
      .flatMap((name) => {
        const bundle = parseBundleName(name);
        return bundle ? { name, at: lastVerified(join(dir, name), bundle.takenAt) } : [];
      })
      .map(async ({ name, at }) => ({ name, at: await at })),
  );
  // A time far in the future is from before the clock was set back.
  const due = verified.filter(({ at }) => Math.abs(now - at) >= everyMs);
  return due.sort((a, b) => a.at - b.at || (a.name < b.name ? -1 : 1))[0]?.name;
}

/** A bundle without a finding was read back when it was taken; one whose file was replaced was never verified. */
async function lastVerified(path: string, takenAt: Date): Promise<number> {
  const [finding, stats] = await Promise.all([readFinding(path), statOf(path)]);
  if (!finding || !stats) return takenAt.getTime();
  const isSame = finding.size === stats.size && finding.modified_at === stats.mtime.toISOString();
  return isSame ? Date.parse(finding.verified_at) : 0;
}

async function statOf(path: string) {
  try {
    return await stat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
