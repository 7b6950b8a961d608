// Storage as off-site copies see it: rows in memory, archives in a folder, answered over NATS.

import { createHash, randomBytes } from "node:crypto";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Mesh } from "@svc/mesh";
import { offsiteArchives as contracts } from "@svc/proto";

type Row = Omit<contracts.OffsiteArchive, "local" | "offsite_at"> & { offsite_at: string | undefined };

export type StorageStub = {
  rows: Map<string, Row>;
  confirmedAt: () => string | undefined;
  /** Adds a present backup with its file. */
  add: (id: string, about?: Partial<Row> & { bytes?: Buffer }) => Row;
  pathOf: (id: string) => string;
  /** What was recorded, in order: `id` or `-id`. */
  recorded: string[];
};

export const day = 86_400_000;

export function serveStorage(mesh: Mesh, folder: string): StorageStub {
  const rows = new Map<string, Row>();
  const recorded: string[] = [];
  let confirmedAt: string | undefined;
  const pathOf = (id: string) => join(folder, rows.get(id)?.archive ?? "");
  mesh.serve(contracts.listArchives, () => ({
    items: [...rows.values()].flatMap((row) => toArchive(row, folder) ?? []),
    longest_retention_seconds: 90 * 86_400,
  }));
  serveBytes(mesh, { rows, pathOf });
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
    const row = { ...newRow(id, { bytes, index: rows.size }), ...about };
    rows.set(id, row);
    writeFileSync(pathOf(id), bytes);
    return row;
  };
  return { rows, confirmedAt: () => confirmedAt, add, pathOf, recorded };
}

function newRow(id: string, { bytes, index }: { bytes: Buffer; index: number }): Row {
  const now = Date.now();
  return {
    id,
    archive: `survival-${BigInt(now) * 1_000_000n + BigInt(index)}.tar.zst`,
    server: "survival",
    size_bytes: bytes.length,
    sha256: digestOf(bytes),
    status: "present",
    created_at: new Date(now).toISOString(),
    expires_at: new Date(now + 30 * day).toISOString(),
    offsite_at: undefined,
    is_corrupt: false,
  };
}

/** Undefined for a deleted backup without a copy. */
function toArchive({ offsite_at, ...row }: Row, folder: string): contracts.OffsiteArchive | undefined {
  if (row.status === "deleted" && offsite_at === undefined) return undefined;
  const path = join(folder, row.archive);
  const size = existsSync(path) ? statSync(path).size : undefined;
  const local = size === undefined ? "missing" : size === row.size_bytes ? "whole" : "other_size";
  return { ...row, ...(offsite_at !== undefined && { offsite_at }), local };
}

type Stored = Pick<StorageStub, "rows" | "pathOf">;

function serveBytes(mesh: Mesh, { rows, pathOf }: Stored): void {
  mesh.serve(contracts.readArchive, (context, { id }) => {
    if (rows.get(id)?.status !== "present") throw context.fault("no_backup");
    const bytes = readFileSync(pathOf(id));
    context.reply.byteTransfer = mesh.byteTransfers.download({
      headers: { "Content-Length": String(bytes.length) },
      source: async function* () {
        yield bytes;
      },
    });
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
        row.is_corrupt = false;
        return null;
      },
    });
    return null;
  });
}

export const digestOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
