// SQL of plans of packs.

import type { packs } from "@svc/proto";
import type { BuildsDb, BuildsTrx } from "../database.ts";

/** The plan of the context that a submission has from now on. */
export async function replacePlan(
  trx: BuildsTrx,
  id: string,
  plan: packs.PackPlan | undefined,
): Promise<void> {
  await trx.deleteFrom("submission_packs").where("submission_id", "=", id).execute();
  if (!plan) return;
  const row = { submission_id: id, plan: JSON.stringify(plan) };
  await trx.insertInto("submission_packs").values(row).execute();
}

export async function findPlan(db: BuildsDb, id: string): Promise<packs.PackPlan | undefined> {
  const row = await db
    .selectFrom("submission_packs")
    .select("plan")
    .where("submission_id", "=", id)
    .executeTakeFirst();
  return row?.plan;
}

/** Whose context it is, and whether it was made of a pack; undefined when the submission is gone. */
export async function findOrigin(
  db: BuildsDb,
  id: string,
): Promise<{ author: string; isPack: boolean } | undefined> {
  const row = await db
    .selectFrom("image_submissions")
    .select(["submitted_by_id", "pack_format"])
    .where("id", "=", id)
    .executeTakeFirst();
  return row && { author: row.submitted_by_id, isPack: row.pack_format !== null };
}
