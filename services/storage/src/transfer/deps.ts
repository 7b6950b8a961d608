// What files, uploads and exports work with besides the rest of the service.

import type { BucketStore, ByteTransfers, Mesh } from "@svc/mesh";
import { exports, files, uploads } from "@svc/proto";
import type { Registry } from "@svc/telemetry";
import type { StorageDeps } from "../deps.ts";
import { type Background, createBackground } from "./background.ts";
import { createTransferMetrics, type TransferMetrics } from "./metrics.ts";
import { createStaging, type Staging } from "./staging.ts";
import { createWorldRights, type WorldRights } from "./world-rights.ts";

/** A part whose bytes are on their way; `until` is in Unix milliseconds. */
export type IncomingPart = { id: string; user_id: string; bytes: number; until: number };

export type TransferDeps = StorageDeps & {
  byteTransfers: ByteTransfers;
  ops: BucketStore<files.StoredFileOp>;
  uploads: BucketStore<uploads.StagedUpload>;
  uploaders: BucketStore<{ sessions: string[] }>;
  coming: BucketStore<{ parts: IncomingPart[] }>;
  exports: BucketStore<exports.StoredExport>;
  exportStarts: BucketStore<{ starts: { id: string; at: number }[] }>;
  staging: Staging;
  background: Background;
  rights: WorldRights;
  transferMetrics: TransferMetrics;
  /** Jobs of file changes that a request of this process starts or waits for: their end is noted by it. */
  attended: Set<string>;
};

export function transferDepsOf(
  deps: StorageDeps,
  {
    mesh,
    registry,
  }: { mesh: Pick<Mesh, "byteTransfers" | "bucket" | "call" | "listen">; registry: Registry },
): TransferDeps {
  const { staging_path, staging_keep_free, transfer_recheck: recheckMs } = deps.settings.storage;
  const background = createBackground(deps.log);
  return {
    ...deps,
    byteTransfers: mesh.byteTransfers,
    ops: mesh.bucket(files.fileOps),
    uploads: mesh.bucket(uploads.stagedUploads),
    uploaders: mesh.bucket(uploads.uploaders),
    coming: mesh.bucket(uploads.comingParts),
    exports: mesh.bucket(exports.exports),
    exportStarts: mesh.bucket(exports.exportStarts),
    staging: createStaging({ path: staging_path, keepFree: staging_keep_free }),
    background,
    rights: createWorldRights({ mesh, background, recheckMs }),
    transferMetrics: createTransferMetrics(registry),
    attended: new Set(),
  };
}
