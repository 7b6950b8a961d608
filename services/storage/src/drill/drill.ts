import type { BucketStore } from "@svc/mesh";
import type { backupKeeping } from "@svc/proto";

export type Drill = backupKeeping.Drill;
export type Drills = BucketStore<Drill>;

/** Name of all objects of a drill; no server can have it, so that no world is locked. */
export function scratchName(drill: Pick<Drill, "id">): string {
  return `drill-${drill.id}`;
}

export function hasEnded({ state }: Pick<Drill, "state">): boolean {
  return state === "passed" || state === "failed";
}
