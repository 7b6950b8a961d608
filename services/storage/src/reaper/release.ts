import { isFault, notices, worlds } from "@svc/proto";
import type { BackupRow } from "../database/tables.ts";
import { eraseVersions } from "../file/version-store.ts";
import type { Outcome } from "./decide.ts";
import type { DueWorld } from "./due-world.ts";
import { count, countAndNote, type Run } from "./run.ts";
import type { SummaryKey } from "./summary.ts";

const keyOf: Record<Outcome, SummaryKey> = { reclaimed: "reaped", released: "released", deleted: "deleted" };
/** The world is archived and deleted, or there never was one: the server loses its owner, or is deleted. */
export async function releaseServer(
  run: Run,
  { world, plan }: Pick<DueWorld, "world" | "plan">,
  backup: BackupRow | undefined,
): Promise<void> {
  const { name, owner_id } = world;
  const { outcome } = plan;
  const about = { name, outcome, ...(owner_id !== undefined && { owner_id }) };
  // The world is gone; a run that dies here comes back, for the server still has its owner.
  await eraseVersions(run.deps.db, name);
  const { done } = await run.deps.mesh.call(worlds.releaseWorld, about);
  if (!done)
    return countAndNote(
      run,
      "skipped",
      `${name} was not released: its owner changed, or the request was withdrawn`,
    );
  count(run, keyOf[outcome]);
  if (outcome === "reclaimed" && owner_id !== undefined && backup) await notifyOwner(run, world, backup);
}

async function notifyOwner(
  run: Run,
  { name, owner_id = "" }: DueWorld["world"],
  backup: BackupRow,
): Promise<void> {
  const facts = { server: name, until: backup.expires_at.toISOString() };
  await run.deps.mesh
    .call(notices.sendNotice, { user_id: owner_id, kind: "world-reclaimed", facts })
    .catch((error: unknown) => {
      // The mail is a courtesy; the world and its archive do not depend on it.
      if (!isFault(error)) throw error;
      run.deps.log.warn({ server: name, fault: error.fault }, "owner notification failed");
    });
}
