// All SQL of scans; build/store.ts writes them with the end of their build.

import type { scans } from "@svc/proto";
import { sql } from "kysely";
import type { BuildsDb } from "../database.ts";

export async function findScan(db: BuildsDb, buildId: string): Promise<scans.BuildScan | undefined> {
  const row = await db
    .selectFrom("image_build_scans")
    .select(["build_id", "scanned_at", "summary"])
    .select(sql<boolean>`report_gz is not null`.as("has_report"))
    .select(sql<boolean>`sbom_gz is not null`.as("has_sbom"))
    .where("build_id", "=", buildId)
    .executeTakeFirst();
  return row && { ...row, scanned_at: row.scanned_at.toISOString() };
}

/** Null when it was not kept, undefined when the build has no scan. */
export async function findDocument(
  db: BuildsDb,
  buildId: string,
  document: scans.ScanDocument,
): Promise<Buffer | null | undefined> {
  const column = document === "report" ? "report_gz" : "sbom_gz";
  const row = await db
    .selectFrom("image_build_scans")
    .select(`${column} as gz`)
    .where("build_id", "=", buildId)
    .executeTakeFirst();
  return row?.gz;
}

/** Bytes of the documents that a running build has sent by now, and which. */
export async function sentDocuments(
  db: BuildsDb,
  buildId: string,
): Promise<{ document: scans.ScanDocument; bytes: number }[]> {
  return db
    .selectFrom("image_build_documents")
    .select(["document", sql<number>`octet_length(gz)`.as("bytes")])
    .where("build_id", "=", buildId)
    .execute();
}
