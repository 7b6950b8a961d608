import { readdir } from "node:fs/promises";
import type { Handler } from "@svc/mesh";
import { Fault, type offsiteArchives } from "@svc/proto";
import { Folder, isWorldFault, manifestNameOf, readManifestHead } from "@svc/world";
import { archiveNameOf } from "../backup/row.ts";
import type { BackupRow } from "../database/tables.ts";
import type { StorageDeps } from "../deps.ts";
import { findArchives } from "./store.ts";

const pageRows = 1_000;

/** storage.offsite.list-archives */
export const listArchives =
  ({ db, settings }: Pick<StorageDeps, "db" | "settings">): Handler<typeof offsiteArchives.listArchives> =>
  async (_context, { cursor = "" }) => {
    const { local_path, retention, manual_retention, scheduled_retention } = settings.archive;
    const rows = await findArchives(db, { after: cursor, limit: pageRows });
    // A folder that cannot be read is not an empty one.
    const names = new Set(await readFolder(local_path));
    await using root = await Folder.openRoot(local_path);
    const listed = { root, names, packBytes: packSizesIn(root) };
    const items = await Promise.all(rows.map((row) => toArchive(row, listed)));
    const last = rows.length === pageRows ? rows.at(-1)?.id : undefined;
    const longestMs = Math.max(retention, manual_retention, scheduled_retention);
    return {
      items,
      longest_retention_seconds: Math.ceil(longestMs / 1_000),
      ...(last !== undefined && { next: last }),
    };
  };

async function readFolder(path: string): Promise<string[]> {
  return readdir(path).catch((cause: unknown) => {
    throw new Fault("unavailable", { message: "The archive folder cannot be read.", cause });
  });
}

type Listed = { root: Folder; names: ReadonlySet<string>; packBytes: PackBytes };
type PackBytes = (name: string) => Promise<number | undefined>;

/** The size of each pack, looked up once: the archives of a server share most of theirs. */
function packSizesIn(root: Folder): PackBytes {
  const sizes = new Map<string, Promise<number | undefined>>();
  return (name) => {
    const size = sizes.get(name) ?? root.find(name).then((stats) => stats?.size);
    sizes.set(name, size);
    return size;
  };
}

async function toArchive(row: BackupRow, listed: Listed): Promise<offsiteArchives.OffsiteArchive> {
  const archive = archiveNameOf(row);
  return {
    id: row.id,
    archive,
    server: row.server_name,
    size_bytes: row.size_bytes,
    sha256: row.sha256,
    status: row.status,
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
    ...(row.offsite_at && { offsite_at: row.offsite_at.toISOString() }),
    local: await findLocal(archive, { ...listed, size: row.size_bytes }),
    ...(isChunks(archive, listed.names) && { is_deduplicated: true }),
    is_corrupt: row.corrupt_at !== null,
  };
}

/** A whole file comes first: where both are there, it was brought back because the other one is damaged. */
const isChunks = (archive: string, names: ReadonlySet<string>) =>
  !names.has(archive) && names.has(manifestNameOf(archive));

async function findLocal(
  archive: string,
  { root, names, packBytes, size }: Listed & { size: number },
): Promise<offsiteArchives.OffsiteArchive["local"]> {
  if (isChunks(archive, names)) return findChunks(archive, { root, packBytes, size });
  if (!names.has(archive)) return "missing";
  const found = await root.find(archive);
  if (!found) return "missing";
  return found.size === size ? "whole" : "other_size";
}

/** Chunks that are damaged, or packs that are gone, count as another size: then the copy is brought back. */
async function findChunks(
  archive: string,
  { root, packBytes, size }: Omit<Listed, "names"> & { size: number },
): Promise<"whole" | "other_size"> {
  try {
    const manifest = await readManifestHead(root, archive);
    if (manifest.isCut) return "other_size";
    for (const pack of manifest.packs) if ((await packBytes(pack.name)) !== pack.size) return "other_size";
    return manifest.size === size ? "whole" : "other_size";
  } catch (error) {
    if (isWorldFault(error)) return "other_size";
    throw error;
  }
}
