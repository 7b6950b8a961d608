// The one place where packs are deleted (docs/reference/backups.md#packs).

import { isWorldFault } from "../fault.ts";
import type { Folder } from "../path/folder.ts";
import { decidePack, type PackFacts } from "./decide-pack.ts";
import { readManifestHead } from "./manifest.ts";
import { parseStoreName, retiredNameOf, type StoreName } from "./names.ts";

type SweepPlan = {
  /** Names of the archives that somebody relies on. */
  recorded: ReadonlySet<string>;
  /** Unix milliseconds. */
  now: number;
  /** How long a pack stays after nothing refers to it. */
  graceMs: number;
  signal?: AbortSignal | undefined;
};

type PackSweep = {
  retired: number;
  deleted: number;
  /** Bytes that the packs take which are left, and that the archives in them have as files. */
  packBytes: number;
  archiveBytes: number;
  /** Servers of which nothing was retired or deleted, with the reason. */
  held: { server: string; reason: string }[];
};

type Pack = { name: string; server: string; size: number; retiredAt: number | undefined };

/** Retires packs that nothing refers to, and deletes those that were retired long enough ago. May run beside anything. */
export async function sweepPacks(folder: Folder, plan: SweepPlan): Promise<PackSweep> {
  // In this order; `decidePack` says why.
  const packs = await findPacks(folder);
  const written = await findWritten(folder);
  const found = await readManifests(folder, plan);
  const sweep: PackSweep = {
    retired: 0,
    deleted: 0,
    packBytes: 0,
    archiveBytes: found.archiveBytes,
    held: heldServers(packs, { ...found, written }),
  };
  for (const pack of packs) {
    plan.signal?.throwIfAborted();
    const verdict = decidePack({
      isWritten: written.has(pack.server),
      isUnreadable: found.unreadable.has(pack.server),
      isMissing: found.missing.has(pack.server),
      isReferred: found.referred.has(pack.name),
      retiredAt: pack.retiredAt,
      now: plan.now,
      graceMs: plan.graceMs,
    } satisfies PackFacts);
    if (verdict === "retire") await retire(folder, pack.name);
    if (verdict === "delete") await remove(folder, pack.name);
    sweep.retired += verdict === "retire" ? 1 : 0;
    sweep.deleted += verdict === "delete" ? 1 : 0;
    sweep.packBytes += verdict === "delete" ? 0 : pack.size;
  }
  if (sweep.retired + sweep.deleted > 0) await folder.sync();
  return sweep;
}

async function namesIn(folder: Folder): Promise<StoreName[]> {
  return (await folder.list()).flatMap(({ name }) => parseStoreName(name) ?? []);
}

async function findWritten(folder: Folder): Promise<Set<string>> {
  return new Set((await namesIn(folder)).flatMap(({ kind, server }) => (kind === "lease" ? [server] : [])));
}

async function findPacks(folder: Folder): Promise<Pack[]> {
  const packs: Pack[] = [];
  for (const one of await namesIn(folder)) {
    if (!("pack" in one)) continue;
    if (one.kind === "pack") {
      const mark = await folder.find(retiredNameOf(one.name));
      const stats = await folder.find(one.name);
      if (stats)
        packs.push({ name: one.name, server: one.server, size: stats.size, retiredAt: mark?.mtimeMs });
    } else if (!(await folder.find(one.pack))) {
      // A sweep was killed after it had deleted the pack.
      await removeIfThere(folder, one.name);
    }
  }
  return packs;
}

type Manifests = {
  referred: Set<string>;
  /** Servers. */
  unreadable: Set<string>;
  missing: Set<string>;
  archiveBytes: number;
};

async function readManifests(folder: Folder, { recorded, signal }: SweepPlan): Promise<Manifests> {
  const names = (await namesIn(folder)).flatMap((one) => ("archive" in one ? [one] : []));
  const here = new Set(
    names.flatMap(({ kind, archive }) => (kind === "whole" || kind === "manifest" ? [archive] : [])),
  );
  const found: Manifests = {
    referred: new Set(),
    unreadable: new Set(),
    missing: new Set(),
    archiveBytes: 0,
  };
  for (const { kind, server, archive } of names) {
    if (kind !== "manifest") continue;
    signal?.throwIfAborted();
    const manifest = await readManifestHead(folder, archive).catch((error: unknown) => {
      if (isWorldFault(error)) return undefined;
      throw error;
    });
    for (const pack of manifest?.packs ?? []) found.referred.add(pack.name);
    found.archiveBytes += manifest?.size ?? 0;
    if (!manifest) found.unreadable.add(server);
  }
  for (const archive of recorded) {
    const server = parseStoreName(archive)?.server;
    if (server !== undefined && !here.has(archive)) found.missing.add(server);
  }
  return found;
}

function heldServers(packs: readonly Pack[], found: Manifests & { written: ReadonlySet<string> }) {
  return [...new Set(packs.map(({ server }) => server))].flatMap((server) => {
    if (found.unreadable.has(server)) return { server, reason: "a manifest cannot be read" };
    if (found.missing.has(server)) return { server, reason: "a recorded archive is missing" };
    return [];
  });
}

async function retire(folder: Folder, pack: string): Promise<void> {
  const mark = await folder.createFile(retiredNameOf(pack), 0o640).catch((error: unknown) => {
    if (!isWorldFault(error, "file_exists")) throw error;
  });
  await mark?.close();
}

/** The mark goes last: without it the pack would look as if it were in use. */
async function remove(folder: Folder, pack: string): Promise<void> {
  await removeIfThere(folder, pack);
  await folder.sync();
  await removeIfThere(folder, retiredNameOf(pack));
}

async function removeIfThere(folder: Folder, name: string): Promise<void> {
  await folder.removeFile(name).catch((error: unknown) => {
    if (!isWorldFault(error, "not_found")) throw error;
  });
}
