// The only path to the deletion of a world volume. Every condition is checked here, in one place, on facts read a moment
// ago; a single failed rule keeps the world.

import type { BackupRow } from "../database/tables.ts";
import type { Outcome, WorldServer } from "./decide.ts";

/** Created only by the step that verified an archive in this run. */
export type ReadBack = {
  run: string;
  backupId: string;
  /** Digest of the bytes that were read. */
  sha256: string;
  /** The claim whose world the archive was made of, or compared with file by file. */
  claimUid: string;
};

export type Evidence = {
  run: string;
  readBack: ReadBack | undefined;
  /** Read from the database after the read-back. */
  backup: BackupRow | undefined;
  /** Read from lifecycle after all of that. */
  world: WorldServer | undefined;
  /** The server when the decision was made. */
  decided: { owner: string | undefined; outcome: Outcome; lastActiveAt: string };
  /** Read from the cluster last. */
  claim: { name: string; uid: string } | undefined;
  /** The server's lock annotation, and its value when the lock is ours. */
  lock: { found: string | undefined; ours: string; isHeld: boolean };
  offsite: { isRequired: boolean };
  now: number;
};

type Rule = [keeps: (evidence: Evidence) => boolean, why: string];

const rules: readonly Rule[] = [
  [({ readBack, run }) => readBack?.run !== run, "no archive was verified in this run"],
  [({ backup, readBack }) => !backup || backup.id !== readBack?.backupId, "the archive has no record"],
  [({ backup, readBack }) => backup?.sha256 !== readBack?.sha256, "the record and the bytes differ"],
  [({ backup }) => backup?.status !== "present", "the backup was expired"],
  [({ backup }) => backup?.corrupt_at !== null, "the backup is marked corrupt"],
  [({ backup }) => backup?.unreadable_entries !== 0, "the archive lacks files that could not be read"],
  [({ backup, now }) => (backup?.expires_at.getTime() ?? 0) <= now, "the backup has expired"],
  [({ backup, world }) => backup?.server_name !== world?.name, "the backup is of another server"],
  [({ claim, readBack }) => !claim || claim.uid !== readBack?.claimUid, "the archive is of another volume"],
  [({ claim, world }) => claim?.name !== world?.volume_claim, "the server's world is another volume"],
  [
    ({ world }) => world?.exists !== true || world.system || world.reaper_exempt,
    "the server is exempt or gone",
  ],
  [({ world }) => world?.stopped !== true, "the server is not stopped"],
  [({ world, decided }) => world?.owner_id !== decided.owner, "the server changed owner"],
  [({ world, decided }) => outcomeOf(world, decided) !== decided.outcome, "the decision no longer applies"],
  [({ offsite, backup }) => offsite.isRequired && !backup?.offsite_at, "there is no confirmed off-site copy"],
  [({ lock }) => !lock.isHeld || lock.found !== lock.ours, "the lock is no longer ours"],
];

function outcomeOf(world: WorldServer | undefined, decided: Evidence["decided"]): Outcome | undefined {
  if (world?.retiring) return world.retiring.delete ? "deleted" : "released";
  return world?.last_active_at === decided.lastActiveAt ? "reclaimed" : undefined;
}

/** Why the world volume must stay; undefined when it may be deleted. */
export function whyKept(evidence: Evidence): string | undefined {
  return rules.find(([keeps]) => keeps(evidence))?.[1];
}

class WorldKept extends Error {
  override name = "WorldKept";
}

/** Throws `WorldKept` unless every rule allows the deletion. */
export function assertMayDelete(evidence: Evidence): asserts evidence is Evidence & {
  claim: NonNullable<Evidence["claim"]>;
} {
  const why = whyKept(evidence);
  if (why !== undefined) throw new WorldKept(why);
}
