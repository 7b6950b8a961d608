// All SQL of builds.

import type { builds, scans } from "@svc/proto";
import { sql } from "kysely";
import type { BuildsDb, BuildsTrx } from "../database.ts";
import type { Attested } from "./attest.ts";
import { type BuildRow, type ListedBuild, listedColumns } from "./row.ts";
import { newSteps } from "./steps.ts";

export function findBuild(db: BuildsDb | BuildsTrx, id: string): Promise<BuildRow | undefined> {
  return db.selectFrom("image_builds").selectAll().where("id", "=", id).executeTakeFirst();
}

export function listBuilding(db: BuildsDb): Promise<BuildRow[]> {
  return db
    .selectFrom("image_builds")
    .selectAll()
    .where("status", "=", "building")
    .orderBy("arrival")
    .execute();
}

type Page = {
  kind: builds.BuildKind;
  search?: { exact: string; part: string } | undefined;
  limit: number;
  offset: number;
};

export async function listBuilds(db: BuildsDb, page: Page): Promise<{ rows: ListedBuild[]; total: number }> {
  const { search } = page;
  const matching = () => {
    const all = db.selectFrom("image_builds").where("kind", "=", page.kind);
    if (!search) return all;
    return all.where((of) =>
      of.or([
        of("id", "=", search.exact),
        of(sql`status::text`, "=", search.exact),
        of("image_ref", "ilike", search.part),
      ]),
    );
  };
  const { total } = await matching()
    .select((of) => of.fn.countAll<string>().as("total"))
    .executeTakeFirstOrThrow();
  const rows = await matching()
    .select(listedColumns)
    .orderBy("arrival", "desc")
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  return { rows, total: Number(total) };
}

/** Starts what is pending, the oldest first, as far as slots are free; one replica at a time decides. */
export function startPending(
  db: BuildsDb,
  about: { slots: number; hasEgressGate: boolean },
): Promise<string[]> {
  return db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(hashtext('builds.queue'))`.execute(trx);
    const running = await trx
      .selectFrom("image_builds")
      .select("kind")
      .where("status", "=", "building")
      .execute();
    const free = about.slots - running.length;
    if (free <= 0) return [];
    const started = await startOldest(trx, { ...about, kind: "build", most: free });
    // Builds come first, and of scans one at a time runs.
    const isScanning = running.some(({ kind }) => kind === "scan");
    if (isScanning || started.length === free) return started;
    return [...started, ...(await startOldest(trx, { ...about, kind: "scan", most: 1 }))];
  });
}

async function startOldest(
  trx: BuildsTrx,
  { kind, most, hasEgressGate }: { kind: builds.BuildKind; most: number; hasEgressGate: boolean },
): Promise<string[]> {
  const oldest = trx
    .selectFrom("image_builds")
    .select("id")
    .where("status", "=", "pending")
    .where("kind", "=", kind)
    .orderBy("arrival")
    .limit(most);
  const started = await trx
    .updateTable("image_builds")
    .set({
      status: "building",
      started_at: sql<Date>`now()`,
      job_name: sql<string>`'build-' || id`,
      steps: JSON.stringify(newSteps(hasEgressGate, kind)),
    })
    .where("id", "in", oldest)
    // A cancel since then holds no lock of the queue.
    .where("status", "=", "pending")
    .returning("id")
    .execute();
  return started.map(({ id }) => id);
}

/** Ended builds of which something secret may be left in the cluster. */
export function listUncleaned(db: BuildsDb, limit: number): Promise<{ id: string }[]> {
  return db
    .selectFrom("image_builds")
    .select("id")
    .where("finished_at", "is not", null)
    .where("started_at", "is not", null)
    .where("cleaned_at", "is", null)
    .orderBy("finished_at")
    .limit(limit)
    .execute();
}

export async function markCleaned(db: BuildsDb, id: string): Promise<void> {
  await db.updateTable("image_builds").set({ cleaned_at: sql<Date>`now()` }).where("id", "=", id).execute();
}

/** False when the build is no longer one that runs. */
export async function addDocumentsToken(db: BuildsDb, id: string, hash: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("image_builds")
    .set({ documents_token_hashes: sql<string[]>`array_append(documents_token_hashes, ${hash})` })
    .where("id", "=", id)
    .where("status", "=", "building")
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** False when the build is no longer one that runs. */
export async function markLaunched(db: BuildsDb, id: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("image_builds")
    .set({ launched_at: sql<Date>`coalesce(launched_at, now())` })
    .where("id", "=", id)
    .where("status", "=", "building")
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export async function saveSteps(
  db: BuildsDb,
  id: string,
  steps: readonly builds.StepProgress[],
): Promise<void> {
  await db
    .updateTable("image_builds")
    .set({ steps: JSON.stringify(steps) })
    .where("id", "=", id)
    .where("status", "=", "building")
    .execute();
}

type BuildEnd = {
  status: "succeeded" | "failed" | "cancelled";
  steps: readonly builds.StepProgress[];
  error?: string | undefined;
  imageDigest?: string | undefined;
  bases?: readonly { image_ref: string; digest: string }[] | undefined;
  log?: Buffer | undefined;
};

/** Writes the end of a build that is neither sealed nor ended; undefined when it is. */
export async function endBuild(trx: BuildsTrx, id: string, end: BuildEnd): Promise<BuildRow | undefined> {
  const row = await trx
    .updateTable("image_builds")
    .set({
      status: end.status,
      steps: JSON.stringify(end.steps),
      error: end.error ?? null,
      ...(end.imageDigest !== undefined && { image_digest: end.imageDigest }),
      ...(end.bases && { bases: JSON.stringify(end.bases) }),
      log_ref: end.log ? id : null,
      documents_token_hashes: [],
      finished_at: sql<Date>`now()`,
    })
    .where("id", "=", id)
    .where("status", "in", ["pending", "building"])
    .where("sealed_at", "is", null)
    .returningAll()
    .executeTakeFirst();
  if (row && end.log)
    await trx.insertInto("image_build_logs").values({ build_id: id, gz: end.log }).execute();
  return row;
}

type BuildSeal = Pick<BuildEnd, "steps" | "bases" | "log"> & { imageDigest: string };

/** Records what was built; undefined when somebody else has, or when the build has ended. */
export async function sealBuild(trx: BuildsTrx, id: string, seal: BuildSeal): Promise<BuildRow | undefined> {
  const row = await trx
    .updateTable("image_builds")
    .set({
      sealed_at: sql<Date>`now()`,
      steps: JSON.stringify(seal.steps),
      image_digest: seal.imageDigest,
      ...(seal.bases && { bases: JSON.stringify(seal.bases) }),
      log_ref: seal.log ? id : null,
      documents_token_hashes: [],
    })
    .where("id", "=", id)
    .where("status", "=", "building")
    .where("sealed_at", "is", null)
    .returningAll()
    .executeTakeFirst();
  if (row && seal.log)
    await trx.insertInto("image_build_logs").values({ build_id: id, gz: seal.log }).execute();
  return row;
}

/** Writes the end of a sealed build; `error` is why it failed at the last moment. */
export async function endSealed(
  trx: BuildsTrx,
  id: string,
  error: string | undefined,
): Promise<BuildRow | undefined> {
  const status = error === undefined ? "succeeded" : "failed";
  const row = await trx
    .updateTable("image_builds")
    .set({ status, error: error ?? null, finished_at: sql<Date>`now()` })
    .where("id", "=", id)
    .where("status", "=", "building")
    .where("sealed_at", "is not", null)
    .returningAll()
    .executeTakeFirst();
  if (row && error !== undefined)
    await trx.deleteFrom("image_provenances").where("build_id", "=", id).execute();
  return row;
}

/** Keeps the scan with what its Job sent of it. */
export async function saveScan(
  trx: BuildsTrx,
  id: string,
  { scannedAt, summary }: { scannedAt: Date; summary: scans.ScanSummary },
): Promise<void> {
  const sent = await trx
    .deleteFrom("image_build_documents")
    .where("build_id", "=", id)
    .returning(["document", "gz"])
    .execute();
  const of = (document: scans.ScanDocument) => sent.find((one) => one.document === document)?.gz ?? null;
  await trx
    .insertInto("image_build_scans")
    .values({
      build_id: id,
      blocked: summary.blocked,
      summary: JSON.stringify(summary),
      report_gz: of("report"),
      sbom_gz: of("sbom"),
      scanned_at: scannedAt,
    })
    .execute();
}

export async function saveProvenance(
  trx: BuildsTrx,
  { id, digest, attested }: { id: string; digest: string; attested: Attested },
): Promise<void> {
  const { manifestDigest, statement } = attested;
  await trx
    .insertInto("image_provenances")
    .values({ build_id: id, digest, manifest_digest: manifestDigest, statement })
    .execute();
}

/** Puts a built image on the whitelist; an entry that was there before is of this build now, and enabled. */
export async function whitelistBuilt(trx: BuildsTrx, row: BuildRow): Promise<void> {
  const entry = {
    source: "built" as const,
    build_id: row.id,
    added_by: row.requested_by,
    enabled: true,
    digest: row.image_digest,
  };
  await trx
    .insertInto("image_whitelist")
    .values({ image_ref: row.image_ref, ...entry })
    .onConflict((conflict) => conflict.column("image_ref").doUpdateSet(entry))
    .execute();
}

/** Of an image the last scan is kept. */
export async function deleteEarlierScans(trx: BuildsTrx, { id, image_ref }: BuildRow): Promise<void> {
  await trx
    .deleteFrom("image_builds")
    .where("kind", "=", "scan")
    .where("image_ref", "=", image_ref)
    .where("finished_at", "is not", null)
    .where("id", "!=", id)
    .execute();
}

const learnedFrom = 10;

/** Steps of the last builds that succeeded: of the same image, else of all. */
export async function earlierSteps(
  db: BuildsDb,
  { image_ref, kind }: Pick<BuildRow, "image_ref" | "kind">,
): Promise<builds.StepProgress[][]> {
  const last = (ref: string | undefined) => {
    const all = db
      .selectFrom("image_builds")
      .select("steps")
      .where("status", "=", "succeeded")
      .where("kind", "=", kind);
    const of = ref === undefined ? all : all.where("image_ref", "=", ref);
    return of.orderBy("arrival", "desc").limit(learnedFrom).execute();
  };
  const same = await last(image_ref);
  return (same.length > 0 ? same : await last(undefined)).map(({ steps }) => steps);
}

export async function countUnfinished(db: BuildsDb): Promise<{ pending: number; building: number }> {
  const rows = await db
    .selectFrom("image_builds")
    .select(["status", (of) => of.fn.countAll<string>().as("count")])
    .where("status", "in", ["pending", "building"])
    .groupBy("status")
    .execute();
  const of = (status: builds.BuildStatus) => Number(rows.find((row) => row.status === status)?.count ?? 0);
  return { pending: of("pending"), building: of("building") };
}

/** Logs are kept for a while; the row of a build stays. */
export async function deleteOldLogs(db: BuildsDb, before: Date): Promise<void> {
  await db
    .with("old", (query) =>
      query.deleteFrom("image_build_logs").where("stored_at", "<", before).returning("build_id"),
    )
    .updateTable("image_builds")
    .set({ log_ref: null })
    .where("id", "in", (query) => query.selectFrom("old").select("build_id"))
    .execute();
}
