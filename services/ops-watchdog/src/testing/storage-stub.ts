// Storage as off-site copies see it: rows in memory, archives in a folder, answered over NATS.

import { createHash, randomBytes } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Mesh } from "@svc/mesh";
import { offsiteArchives as contracts } from "@svc/proto";
import { manifestNameOf } from "@svc/world";
import { localOf, readPart, readStored, storeWorld, type WorldFiles } from "./deduplicated.ts";

type Row = Omit<contracts.OffsiteArchive, "local" | "is_deduplicated" | "offsite_at"> & {
  offsite_at: string | undefined;
};

export type StorageStub = {
  rows: Map<string, Row>;
  confirmedAt: () => string | undefined;
  /** Adds a present backup with its file. */
  add: (id: string, about?: Partial<Row> & { bytes?: Buffer }) => Row;
  /** The same, with a world that is stored deduplicated. */
  addWorld: (id: string, files: WorldFiles, about?: Partial<Row>) => Promise<Row>;
  pathOf: (id: string) => string;
  /** The archive as one file. */
  bytesOf: (id: string) => Promise<Buffer>;
  /** What was recorded, in order: `id` or `-id`. */
  recorded: string[];
};

export const day = 86_400_000;

export function serveStorage(mesh: Mesh, folder: string): StorageStub {
  const rows = new Map<string, Row>();
  const recorded: string[] = [];
  let confirmedAt: string | undefined;
  const pathOf = (id: string) => join(folder, rows.get(id)?.archive ?? "");
  mesh.serve(contracts.listArchives, async () => ({
    items: (await Promise.all([...rows.values()].map((row) => toArchive(row, folder)))).flat(),
    longest_retention_seconds: 90 * 86_400,
  }));
  serveBytes(mesh, { rows, pathOf, folder });
  mesh.serve(contracts.recordCopies, (_context, { copies }) => {
    for (const { id, sha256, at } of copies) {
      const row = rows.get(id);
      if (row?.sha256 !== sha256) continue;
      row.offsite_at = at ?? undefined;
      recorded.push(at === null ? `-${id}` : id);
    }
    return { recorded: copies.length };
  });
  mesh.serve(contracts.confirmCopies, (_context, { listed_at }) => {
    confirmedAt = listed_at;
    return null;
  });
  const add: StorageStub["add"] = (id, { bytes = randomBytes(100_000), ...about } = {}) => {
    const made = { sizeBytes: bytes.length, sha256: digestOf(bytes), index: rows.size };
    const row = { ...newRow(id, made), ...about };
    rows.set(id, row);
    writeFileSync(pathOf(id), bytes);
    return row;
  };
  const addWorld: StorageStub["addWorld"] = async (id, files, about = {}) => {
    const draft = { ...newRow(id, { sizeBytes: 0, sha256: "", index: rows.size }), ...about };
    const { sizeBytes, sha256 } = await storeWorld(folder, { name: draft.archive, files });
    const row = { ...draft, size_bytes: sizeBytes, sha256 };
    rows.set(id, row);
    return row;
  };
  const bytesOf = (id: string) => readStored(folder, rows.get(id)?.archive ?? "");
  return { rows, confirmedAt: () => confirmedAt, add, addWorld, pathOf, bytesOf, recorded };
}

type Made = { sizeBytes: number; sha256: string; index: number };

function newRow(id: string, { sizeBytes, sha256, index }: Made): Row {
  const now = Date.now();
  return {
    id,
    archive: `survival-${BigInt(now) * 1_000_000n + BigInt(index)}.tar.zst`,
    server: "survival",
    size_bytes: sizeBytes,
    sha256,
    status: "present",
    created_at: new Date(now).toISOString(),
    expires_at: new Date(now + 30 * day).toISOString(),
    offsite_at: undefined,
    is_corrupt: false,
  };
}

/** None for a deleted backup without a copy. */
async function toArchive({ offsite_at, ...row }: Row, folder: string): Promise<contracts.OffsiteArchive[]> {
  if (row.status === "deleted" && offsite_at === undefined) return [];
  return [{ ...row, ...(offsite_at !== undefined && { offsite_at }), ...(await localOf(folder, row)) }];
}

type Stored = Pick<StorageStub, "rows" | "pathOf"> & { folder: string };

function serveBytes(mesh: Mesh, { rows, pathOf, folder }: Stored): void {
  const download = (bytes: Buffer) =>
    mesh.byteTransfers.download({
      headers: { "Content-Length": String(bytes.length) },
      source: async function* () {
        yield bytes;
      },
    });
  mesh.serve(contracts.readArchive, async (context, { id }) => {
    const row = rows.get(id);
    if (row?.status !== "present") throw context.fault("no_backup");
    const { is_deduplicated: isInPacks } = await localOf(folder, row);
    const bytes = isInPacks ? await readStored(folder, row.archive) : readFileSync(pathOf(id));
    context.reply.byteTransfer = download(bytes);
    return null;
  });
  mesh.serve(contracts.readChunks, (context, { id, pack }) => {
    const row = rows.get(id);
    if (row?.status !== "present") throw context.fault("no_backup");
    context.reply.byteTransfer = download(readPart(folder, { archive: row.archive, pack }));
    return null;
  });
  mesh.serve(contracts.writeArchive, (context, { id }) => {
    const row = rows.get(id);
    if (row?.status !== "present") throw context.fault("no_backup");
    context.reply.byteTransfer = mesh.byteTransfers.upload({
      receive: async (body) => {
        const chunks: Uint8Array[] = [];
        for await (const chunk of body) chunks.push(chunk);
        const bytes = Buffer.concat(chunks);
        if (digestOf(bytes) !== row.sha256) throw context.fault("digest_mismatch");
        writeFileSync(pathOf(id), bytes);
        rmSync(join(folder, manifestNameOf(row.archive)), { force: true });
        row.is_corrupt = false;
        return null;
      },
    });
    return null;
  });
}

export const digestOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
