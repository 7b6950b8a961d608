// All SQL of scans that are repeated; build/store.ts starts and ends them like builds.

import { parseReference } from "@svc/registry";
import { sql } from "kysely";
import type { BuildsDb, BuildsTrx } from "../database.ts";
import { pinned } from "../image/reference.ts";
import type { LastScan } from "./decide.ts";

/** Builds and scans of these digests, and every scan that has not ended. */
export async function findLastScans(
  db: BuildsDb | BuildsTrx,
  digests: readonly string[],
): Promise<LastScan[]> {
  const rows = await db
    .selectFrom("image_builds")
    .select(["kind", "image_ref", "image_digest", "status", "created_at"])
    .where((of) =>
      of.or([
        of("image_digest", "=", of.fn.any(of.val([...digests]))),
        of.and([of("kind", "=", "scan"), of("finished_at", "is", null)]),
      ]),
    )
    .where("image_digest", "is not", null)
    .execute();
  return rows.flatMap(({ kind, image_ref, image_digest, status, created_at }) => {
    const reference = parseReference(image_ref);
    if (!reference || image_digest === null) return [];
    const ref = kind === "scan" ? image_ref : pinned(reference, image_digest);
    return [{ ref, at: created_at, status }];
  });
}

/** Enabled entries that name one tag. */
export async function listAllowedTags(db: BuildsDb): Promise<string[]> {
  const rows = await db
    .selectFrom("image_whitelist")
    .select("image_ref")
    .where("enabled", "=", true)
    .where("image_ref", "not like", "%:*")
    .execute();
  return rows.map(({ image_ref }) => image_ref);
}

export async function saveDigest(db: BuildsDb, image_ref: string, digest: string | null): Promise<void> {
  await db
    .updateTable("image_whitelist")
    .set({ digest })
    .where("image_ref", "=", image_ref)
    .where("digest", "is distinct from", digest)
    .execute();
}

/** Scans of images that are neither allowed nor in use any more. */
export async function deleteScansBeside(db: BuildsDb, refs: readonly string[]): Promise<void> {
  await db
    .deleteFrom("image_builds")
    .where("kind", "=", "scan")
    .where("finished_at", "is not", null)
    .where(sql<boolean>`image_ref <> all(${[...refs]})`)
    .execute();
}

type FlaggedRow = {
  image_ref: string;
  build_id: string;
  scanned_at: Date;
  blocking_counts: Record<string, number>;
};

/** By name; the last scan of an image is the only one that is kept. */
export function listFlagged(db: BuildsDb, about: { after: string; limit: number }): Promise<FlaggedRow[]> {
  return flagged(db)
    .select([
      "b.image_ref",
      "b.id as build_id",
      "s.scanned_at",
      sql<Record<string, number>>`s.summary -> 'blocking_counts'`.as("blocking_counts"),
    ])
    .where("b.image_ref", ">", about.after)
    .orderBy("b.image_ref")
    .limit(about.limit)
    .execute();
}

export async function countFlagged(db: BuildsDb): Promise<number> {
  const { count } = await flagged(db)
    .select((of) => of.fn.countAll<string>().as("count"))
    .executeTakeFirstOrThrow();
  return Number(count);
}

function flagged(db: BuildsDb) {
  return db
    .selectFrom("image_builds as b")
    .innerJoin("image_build_scans as s", "s.build_id", "b.id")
    .where("b.kind", "=", "scan")
    .where("b.status", "=", "succeeded")
    .where("s.blocked", "=", true);
}
