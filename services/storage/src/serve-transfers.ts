// Handlers and background work of files, uploads and exports.

import type { Mesh } from "@svc/mesh";
import { archives, exports, files, uploads } from "@svc/proto";
import type { Wake } from "@svc/store/wake";
import type { Registry } from "@svc/telemetry";
import { receive as receiveArchive } from "./archive/receive.ts";
import { send as sendArchive } from "./archive/send.ts";
import type { StorageDeps } from "./deps.ts";
import { fetchFile } from "./download/fetch.ts";
import type { ExportDeps } from "./export/deps.ts";
import { download } from "./export/download.ts";
import { readStatus } from "./export/read-status.ts";
import { receive } from "./export/receive.ts";
import { startExportSweep } from "./export/reconcile.ts";
import { startBackup } from "./export/start-backup.ts";
import { startFile } from "./export/start-file.ts";
import { startWorld } from "./export/start-world.ts";
import { archive } from "./file/archive.ts";
import type { FileDeps } from "./file/deps.ts";
import { createJobSlots } from "./file/job-slots.ts";
import { list } from "./file/list.ts";
import { listOperations } from "./file/list-operations.ts";
import { makeFolder } from "./file/make-folder.ts";
import { type OpDeps, startOpReconcile } from "./file/op.ts";
import { read } from "./file/read.ts";
import { startChangeReconcile } from "./file/reconcile-changes.ts";
import { remove } from "./file/remove.ts";
import { rename } from "./file/rename.ts";
import { search } from "./file/search.ts";
import { serveSetAside } from "./file/set-aside.ts";
import { unzip } from "./file/unzip.ts";
import { serveVersions } from "./file/versions.ts";
import { write } from "./file/write.ts";
import { serveOffsite } from "./offsite/serve.ts";
import { servePlugins } from "./plugin/serve.ts";
import { createBackground } from "./transfer/background.ts";
import type { SharedDeps } from "./transfer/deps.ts";
import { createTransferMetrics } from "./transfer/metrics.ts";
import { createStaging } from "./transfer/staging.ts";
import { createWorldRights } from "./transfer/world-rights.ts";
import { begin } from "./upload/begin.ts";
import { cancel } from "./upload/cancel.ts";
import { commit } from "./upload/commit.ts";
import type { UploadDeps } from "./upload/deps.ts";
import { openStaged } from "./upload/open-staged.ts";
import { putPart } from "./upload/put-part.ts";
import { deleteUpload } from "./upload/quota.ts";
import { readSession } from "./upload/read-session.ts";
import { reportLanded } from "./upload/report-landed.ts";
import { upload } from "./upload/single-request.ts";
import { keepStagingSwept } from "./upload/sweep.ts";

type Needs = {
  mesh: Pick<Mesh, "serve" | "byteTransfers" | "bucket" | "call" | "listen">;
  registry: Registry;
  /** Rings when a file change is admitted. */
  changeWake: Wake;
};

/** Serves files, uploads and exports until closed. */
export function startTransfers(storage: StorageDeps, needs: Needs): { close: () => Promise<void> } {
  const { mesh } = needs;
  const shared = openShared(storage, needs);
  const file = openFiles(shared, mesh);
  const upload = openUploads(file, mesh);
  const download = openExports(shared, mesh);
  const operations = { ...file, onUploaded: (id: string) => deleteUpload(upload, id) };
  serveFiles(mesh, operations);
  serveUploads(mesh, upload);
  serveExports(mesh, download);
  mesh.serve(archives.receive, receiveArchive(shared));
  mesh.serve(archives.send, sendArchive(shared));
  serveOffsite(mesh, shared);
  const watching = startOpReconcile(operations);
  startChangeReconcile(file, needs.changeWake);
  keepStagingSwept(upload);
  startExportSweep(download);
  return {
    close: async () => {
      shared.rights.close();
      await Promise.all([watching.close(), shared.background.close()]);
    },
  };
}

function openShared(storage: StorageDeps, { mesh, registry }: Needs): SharedDeps {
  const { transfer_recheck: recheckMs } = storage.settings.storage;
  const background = createBackground(storage.log);
  return {
    ...storage,
    byteTransfers: mesh.byteTransfers,
    background,
    rights: createWorldRights({ mesh, background, recheckMs }),
    transferMetrics: createTransferMetrics(registry),
  };
}

type Buckets = Pick<Mesh, "bucket">;

function openFiles(shared: SharedDeps, mesh: Buckets): FileDeps {
  const jobSlots = createJobSlots(shared.settings.storage.file_jobs_at_once);
  return { ...shared, ops: mesh.bucket(files.fileOps), jobSlots, attended: new Set() };
}

function openUploads(file: FileDeps, mesh: Buckets): UploadDeps {
  const { staging_path: path, staging_keep_free: keepFree } = file.settings.storage;
  return {
    ...file,
    uploads: mesh.bucket(uploads.stagedUploads),
    uploaders: mesh.bucket(uploads.uploaders),
    coming: mesh.bucket(uploads.comingParts),
    staging: createStaging({ path, keepFree }),
  };
}

function openExports(shared: SharedDeps, mesh: Buckets): ExportDeps {
  return {
    ...shared,
    exports: mesh.bucket(exports.exports),
    exportStarts: mesh.bucket(exports.exportStarts),
  };
}

function serveFiles(mesh: Pick<Mesh, "serve">, deps: FileDeps & OpDeps): void {
  mesh.serve(files.list, list(deps));
  mesh.serve(files.read, read(deps));
  mesh.serve(files.search, search(deps));
  mesh.serve(files.write, write(deps));
  mesh.serve(files.remove, remove(deps));
  mesh.serve(files.makeFolder, makeFolder(deps));
  mesh.serve(files.rename, rename(deps));
  mesh.serve(files.archive, archive(deps));
  mesh.serve(files.unzip, unzip(deps));
  mesh.serve(files.listOperations, listOperations(deps));
  serveSetAside(mesh, deps);
  serveVersions(mesh, deps);
}

function serveUploads(mesh: Pick<Mesh, "serve">, deps: UploadDeps): void {
  mesh.serve(uploads.upload, upload(deps));
  mesh.serve(uploads.begin, begin(deps));
  mesh.serve(uploads.readSession, readSession(deps));
  mesh.serve(uploads.putPart, putPart(deps));
  mesh.serve(uploads.cancel, cancel(deps));
  mesh.serve(uploads.commit, commit(deps));
  mesh.serve(uploads.openStaged, openStaged(deps));
  mesh.serve(uploads.reportLanded, reportLanded(deps));
  mesh.serve(files.fetch, fetchFile(deps));
  servePlugins(mesh, deps);
}

function serveExports(mesh: Pick<Mesh, "serve">, deps: ExportDeps): void {
  mesh.serve(exports.startBackup, startBackup(deps));
  mesh.serve(exports.startWorld, startWorld(deps));
  mesh.serve(exports.startFile, startFile(deps));
  mesh.serve(exports.readStatus, readStatus(deps));
  mesh.serve(exports.download, download(deps));
  mesh.serve(exports.receive, receive(deps));
}
