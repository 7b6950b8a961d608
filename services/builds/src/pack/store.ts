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

/** Whether the context of a submission was made of a pack. */
export async function isPack(db: BuildsDb, id: string): Promise<boolean> {
  const row = await db
    .selectFrom("image_submissions")
    .select("pack_format")
    .where("id", "=", id)
    .executeTakeFirst();
  return (row?.pack_format ?? null) !== null;
}
