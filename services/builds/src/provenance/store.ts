// All SQL of provenance; build/store.ts writes it with the end of its build.

import { provenances } from "@svc/proto";
import type { BuildsDb } from "../database.ts";

/** Of one build, or the last of an image. */
export async function findProvenance(
  db: BuildsDb,
  about: { buildId: string } | { digest: string },
): Promise<provenances.Provenance | undefined> {
  const all = db.selectFrom("image_provenances").select(["build_id", "manifest_digest", "statement"]);
  const of =
    "digest" in about ? all.where("digest", "=", about.digest) : all.where("build_id", "=", about.buildId);
  const row = await of.orderBy("created_at", "desc").limit(1).executeTakeFirst();
  return row && { ...row, statement: provenances.ProvenanceStatement.parse(JSON.parse(row.statement)) };
}
