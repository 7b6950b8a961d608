import type { BucketStore } from "@svc/mesh";
import type { backupKeeping } from "@svc/proto";

export type Drill = backupKeeping.Drill;
export type Drills = BucketStore<Drill>;

/** Name of everything that a drill makes; it is no name of a server, so that no world is held. */
export function scratchName(drill: Pick<Drill, "id">): string {
  return `drill-${drill.id}`;
}

export function hasEnded({ state }: Pick<Drill, "state">): boolean {
  return state === "passed" || state === "failed";
}
