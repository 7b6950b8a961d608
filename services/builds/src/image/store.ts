// All SQL of the image whitelist.

import type { images } from "@svc/proto";
import { type Selectable, sql } from "kysely";
import type { BuildsDb, ImageWhitelistTable } from "../database.ts";

type ImageRow = Selectable<ImageWhitelistTable>;
type ListedRow = ImageRow & { scan_id: string | null; scanned_at: Date | null; blocked: boolean | null };

/** Puts what was never recommended before on the list; what an admin took off stays off. */
export async function seedRecommended(db: BuildsDb, refs: readonly string[]): Promise<void> {
  if (refs.length === 0) return;
  const rows = [...new Set(refs)].map((image_ref) => ({ image_ref }));
  await db
    .with("fresh", (query) =>
      query
        .insertInto("recommended_images")
        .values(rows)
        .onConflict((conflict) => conflict.column("image_ref").doNothing())
        .returning("image_ref"),
    )
    .insertInto("image_whitelist")
    .columns(["image_ref", "source", "added_by"])
    .expression((query) =>
      query
        .selectFrom("fresh")
        .select(["image_ref", sql<"recommended">`'recommended'`.as("source"), sql<string>`'svc'`.as("by")]),
    )
    .onConflict((conflict) => conflict.column("image_ref").doNothing())
    .execute();
}

/** With the last verdict on what the tag names: that of a scan, else that of its build. */
export function listImages(db: BuildsDb, about: { after: string; limit: number }): Promise<ListedRow[]> {
  return db
    .selectFrom("image_whitelist as w")
    .leftJoinLateral(
      (of) =>
        of
          .selectFrom("image_builds as b")
          .innerJoin("image_build_scans as s", "s.build_id", "b.id")
          .select(["b.id as scan_id", "s.scanned_at", "s.blocked"])
          .whereRef("b.image_digest", "=", "w.digest")
          .where("b.status", "=", "succeeded")
          .where((or) =>
            or.or([
              or("b.image_ref", "=", or.ref("w.image_ref")),
              or("b.image_ref", "=", sql<string>`w.image_ref || '@' || w.digest`),
            ]),
          )
          .orderBy("b.arrival", "desc")
          .limit(1)
          .as("last"),
      (join) => join.onTrue(),
    )
    .selectAll("w")
    .select(["last.scan_id", "last.scanned_at", "last.blocked"])
    .where("w.image_ref", ">", about.after)
    .orderBy("w.image_ref")
    .limit(about.limit)
    .execute();
}

export function addImage(db: BuildsDb, about: { imageRef: string; addedBy: string }): Promise<ImageRow> {
  return db
    .insertInto("image_whitelist")
    .values({ image_ref: about.imageRef, source: "external", added_by: about.addedBy })
    .onConflict((conflict) => conflict.column("image_ref").doUpdateSet({ enabled: true }))
    .returningAll()
    .executeTakeFirstOrThrow();
}

export function removeImage(db: BuildsDb, imageRef: string): Promise<ImageRow | undefined> {
  return db.deleteFrom("image_whitelist").where("image_ref", "=", imageRef).returningAll().executeTakeFirst();
}

/** Enabled entries of single tags of one repository, by name. */
export async function listTagsOf(
  db: BuildsDb,
  about: { repository: string; limit: number },
): Promise<string[]> {
  const { repository, limit } = about;
  const rows = await db
    .selectFrom("image_whitelist")
    .select("image_ref")
    .where("enabled", "=", true)
    .where(sql<boolean>`starts_with(image_ref, ${`${repository}:`})`)
    .where("image_ref", "!=", `${repository}:*`)
    .orderBy("image_ref", "desc")
    .limit(limit)
    .execute();
  return rows.map(({ image_ref }) => image_ref);
}

/** Whether one of the entries is on the list and enabled. */
export async function isListed(db: BuildsDb, entries: readonly string[]): Promise<boolean> {
  const row = await db
    .selectFrom("image_whitelist")
    .select("image_ref")
    .where("image_ref", "in", [...entries])
    .where("enabled", "=", true)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Whether a build of this installation made the image. */
export async function hasProvenance(db: BuildsDb, digest: string): Promise<boolean> {
  const row = await db
    .selectFrom("image_provenances")
    .select(sql`1`.as("one"))
    .where("digest", "=", digest)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

export function toImage(row: ImageRow & Partial<ListedRow>): images.Image {
  const { scan_id, scanned_at, blocked } = row;
  return {
    image_ref: row.image_ref,
    source: row.source,
    added_by: row.added_by,
    enabled: row.enabled,
    added_at: row.added_at.toISOString(),
    ...(row.build_id !== null && { build_id: row.build_id }),
    ...(scan_id &&
      scanned_at && {
        scan: { build_id: scan_id, scanned_at: scanned_at.toISOString(), blocked: blocked === true },
      }),
  };
}
