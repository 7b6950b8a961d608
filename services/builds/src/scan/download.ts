import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import type { Context, Handler } from "@svc/mesh";
import type { scans } from "@svc/proto";
import type { BuildDeps } from "../build/deps.ts";
import { findBuild } from "../build/store.ts";
import { findDocument } from "./store.ts";

type Deps = Pick<BuildDeps, "db"> & { mesh: Pick<BuildDeps["mesh"], "byteTransfers"> };

/** builds.scan.download-report */
export function createDownloadReport(deps: Deps): Handler<typeof scans.downloadReport> {
  return (context, { id }) =>
    send(deps, context, { id, document: "report", name: `${id}-trivy.json`, type: "application/json" });
}

/** builds.scan.download-sbom */
export function createDownloadSbom(deps: Deps): Handler<typeof scans.downloadSbom> {
  const type = "application/vnd.cyclonedx+json";
  return (context, { id }) => send(deps, context, { id, document: "sbom", name: `${id}.cdx.json`, type });
}

type Download = { id: string; document: scans.ScanDocument; name: string; type: string };

async function send(
  { db, mesh }: Deps,
  context: Context<typeof scans.downloadReport>,
  { id, document, name, type }: Download,
): Promise<null> {
  const gz = await findDocument(db, id, document);
  if (gz === undefined) {
    if (await findBuild(db, id)) throw context.fault("scan_not_found");
    throw context.fault("not_found", { message: "There is no build with this id." });
  }
  if (gz === null) throw context.fault("scan_document_not_kept");
  context.reply.byteTransfer = mesh.byteTransfers.download({
    headers: { "content-type": type, "content-disposition": `attachment; filename="${name}"` },
    source: (signal) => Readable.from([gz], { signal }).pipe(createGunzip({ chunkSize: 65_536 })),
  });
  return null;
}
