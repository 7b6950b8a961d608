import { createHash } from "node:crypto";
import { type Handler, readDigest } from "@svc/mesh";
import { type builds, Fault, scans } from "@svc/proto";
import { violates } from "@svc/store";
import { sql } from "kysely";
import type { BuildDeps } from "../build/deps.ts";
import { hashOf } from "../build/launch.ts";
import { findBuild } from "../build/store.ts";
import { sentDocuments } from "./store.ts";

type Deps = Pick<BuildDeps, "db"> & { mesh: Pick<BuildDeps["mesh"], "byteTransfers"> };

/** builds.build.receive-document: kept until the build's end, which has the verdict that they belong to. */
export function createReceiveDocument(deps: Deps): Handler<typeof builds.receiveDocument> {
  const { db, mesh } = deps;
  return async (context, { id, document, token, content_digest }) => {
    const row = await findBuild(db, id);
    const isOfJob = row?.status === "building" && row.documents_token_hashes.includes(hashOf(token));
    if (!isOfJob) throw context.fault("not_found");
    const sent = await sentDocuments(db, id);
    if (sent.some((one) => one.document === document)) throw context.fault("not_found");
    const digest = readDigest(content_digest);
    const room = scans.scanDocumentBytes - sent.reduce((sum, { bytes }) => sum + bytes, 0);
    context.reply.byteTransfer = mesh.byteTransfers.upload({
      receive: async (body) => {
        const gz = await readAll(body, room);
        if (createHash("sha256").update(gz).digest("hex") !== digest) throw new Fault("digest_mismatch");
        await store(db, { build_id: id, document, gz });
        return null;
      },
    });
    return null;
  };
}

async function readAll(body: AsyncIterable<Uint8Array>, room: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > room) {
      throw new Fault("too_large", {
        message: `Both documents together may have ${scans.scanDocumentBytes} bytes; leave this one out.`,
      });
    }
    // The memory of a chunk is used again.
    chunks.push(Buffer.from(chunk));
  }
  return Buffer.concat(chunks);
}

async function store(
  db: Deps["db"],
  values: { build_id: string; document: scans.ScanDocument; gz: Buffer },
): Promise<void> {
  try {
    // Not of a build that ended while it came: its end has dropped the others.
    const { numInsertedOrUpdatedRows } = await db
      .insertInto("image_build_documents")
      .columns(["build_id", "document", "gz"])
      .expression((of) =>
        of
          .selectFrom("image_builds")
          .select(["id", sql.lit(values.document).as("document"), sql.val(values.gz).as("gz")])
          .where("id", "=", values.build_id)
          .where("status", "=", "building")
          .forShare(),
      )
      .executeTakeFirst();
    if (!numInsertedOrUpdatedRows) throw new Fault("not_found");
  } catch (error) {
    throw violates(error, "image_build_documents_pkey") ? new Fault("not_found") : error;
  }
}
