// Files, uploads and exports: their handlers, and what one replica does besides answering.

import type { Mesh } from "@svc/mesh";
import { archives, exports, files, uploads } from "@svc/proto";
import type { Registry } from "@svc/telemetry";
import { receive as receiveArchive } from "./archive/receive.ts";
import { send as sendArchive } from "./archive/send.ts";
import type { StorageDeps } from "./deps.ts";
import { download } from "./export/download.ts";
import { readStatus } from "./export/read-status.ts";
import { receive } from "./export/receive.ts";
import { startExportSweep } from "./export/reconcile.ts";
import { startBackup } from "./export/start-backup.ts";
import { startFile } from "./export/start-file.ts";
import { startWorld } from "./export/start-world.ts";
import { list } from "./file/list.ts";
import { listOperations } from "./file/list-operations.ts";
import { makeFolder } from "./file/make-folder.ts";
import { type OpDeps, startOpReconcile } from "./file/op.ts";
import { read } from "./file/read.ts";
import { startChangeReconcile } from "./file/reconcile-changes.ts";
import { remove } from "./file/remove.ts";
import { rename } from "./file/rename.ts";
import { unzip } from "./file/unzip.ts";
import { write } from "./file/write.ts";
import { type TransferDeps, transferDepsOf } from "./transfer/deps.ts";
import { begin } from "./upload/begin.ts";
import { cancel } from "./upload/cancel.ts";
import { commit } from "./upload/commit.ts";
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
};

/** Answers everything about files until closed. */
export function startTransfers(storage: StorageDeps, needs: Needs): { close: () => Promise<void> } {
  const shared = transferDepsOf(storage, needs);
  const deps = { ...shared, onUploaded: (upload: string) => deleteUpload(shared, upload) };
  serveFiles(needs.mesh, deps);
  serveUploads(needs.mesh, deps);
  serveExports(needs.mesh, deps);
  needs.mesh.serve(archives.receive, receiveArchive(deps));
  needs.mesh.serve(archives.send, sendArchive(deps));
  const watching = startOpReconcile(deps);
  startChangeReconcile(deps);
  keepStagingSwept(deps);
  startExportSweep(deps);
  return {
    close: async () => {
      deps.rights.close();
      await Promise.all([watching.close(), deps.background.close()]);
    },
  };
}

function serveFiles(mesh: Pick<Mesh, "serve">, deps: OpDeps): void {
  mesh.serve(files.list, list(deps));
  mesh.serve(files.read, read(deps));
  mesh.serve(files.write, write(deps));
  mesh.serve(files.remove, remove(deps));
  mesh.serve(files.makeFolder, makeFolder(deps));
  mesh.serve(files.rename, rename(deps));
  mesh.serve(files.unzip, unzip(deps));
  mesh.serve(files.listOperations, listOperations(deps));
}

function serveUploads(mesh: Pick<Mesh, "serve">, deps: TransferDeps): void {
  mesh.serve(uploads.upload, upload(deps));
  mesh.serve(uploads.begin, begin(deps));
  mesh.serve(uploads.readSession, readSession(deps));
  mesh.serve(uploads.putPart, putPart(deps));
  mesh.serve(uploads.cancel, cancel(deps));
  mesh.serve(uploads.commit, commit(deps));
  mesh.serve(uploads.openStaged, openStaged(deps));
  mesh.serve(uploads.reportLanded, reportLanded(deps));
}

function serveExports(mesh: Pick<Mesh, "serve">, deps: TransferDeps): void {
  mesh.serve(exports.startBackup, startBackup(deps));
  mesh.serve(exports.startWorld, startWorld(deps));
  mesh.serve(exports.startFile, startFile(deps));
  mesh.serve(exports.readStatus, readStatus(deps));
  mesh.serve(exports.download, download(deps));
  mesh.serve(exports.receive, receive(deps));
}
