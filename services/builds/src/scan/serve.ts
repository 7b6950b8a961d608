import type { Mesh } from "@svc/mesh";
import { builds, scans } from "@svc/proto";
import type { BuildsDb } from "../database.ts";
import { createDownloadReport, createDownloadSbom } from "./download.ts";
import { createReadScan } from "./read.ts";
import { createReceiveDocument } from "./receive-document.ts";

export function serveScans(deps: { db: BuildsDb; mesh: Pick<Mesh, "serve" | "byteTransfers"> }): void {
  const { mesh } = deps;
  mesh.serve(builds.receiveDocument, createReceiveDocument(deps));
  mesh.serve(scans.readScan, createReadScan(deps));
  mesh.serve(scans.downloadReport, createDownloadReport(deps));
  mesh.serve(scans.downloadSbom, createDownloadSbom(deps));
}
