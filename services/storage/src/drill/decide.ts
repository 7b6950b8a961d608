// The next step of a drill. Every effect may be repeated; the objects of a drill are deleted before its end is recorded.
//
// restoring -> booting   the backup is in the scratch volume
//           -> failed    the Job failed or died, or the backup is gone
// booting   -> passed    the server on it answered with its status
//           -> failed    it exited, or was not ready in time
// any       -> failed    the drill exceeded its time limit
//
// Pure.

import type { PersistentVolumeClaim, StatefulSet } from "@svc/kube";
import type { drills } from "@svc/proto";
import type { BackupRow } from "../database/tables.ts";
import { failureOf, type JobState } from "../job/outcome.ts";
import type { Drill } from "./drill.ts";

export type Observed = { readonly ageMs: number } & (
  | {
      readonly step: "restoring";
      readonly job: JobState;
      /** The volume of the server's world; the scratch volume gets the same size and class. */
      readonly worldVolume: PersistentVolumeClaim | undefined;
      readonly backup: BackupRow | undefined;
    }
  | {
      readonly step: "booting";
      readonly pod: ObservedPod | undefined;
      /** The server's StatefulSet; undefined for one that was never started. */
      readonly set: StatefulSet | undefined;
    }
);

export type ObservedPod = {
  readonly ageMs: number;
  readonly hasExited: boolean;
  /** The status ping of the server; undefined until its pod is ready. */
  readonly version: string | undefined;
};

type DrillCode = drills.DrillCode;
type Change = Partial<Pick<Drill, "version" | "boot_seconds">>;

export type Plan =
  | { readonly action: "wait" }
  | {
      readonly action: "start-restore";
      readonly worldVolume: PersistentVolumeClaim;
      readonly backup: BackupRow;
    }
  | { readonly action: "start-server"; readonly set: StatefulSet }
  | { readonly action: "boot" }
  | { readonly action: "pass"; readonly result: Required<Change> }
  | { readonly action: "fail"; readonly code: DrillCode; readonly message: string };

/** Time limits of the whole drill, and of its server until it is ready. */
type Limits = { readonly drillMs: number; readonly bootMs: number };

export function decideDrill(observed: Observed, limits: Limits): Plan {
  if (observed.ageMs > limits.drillMs) return fail("drill_late", "the drill exceeded its time limit");
  return observed.step === "restoring" ? decideRestore(observed) : decideBoot(observed, limits);
}

function decideRestore({ job, worldVolume, backup }: Extract<Observed, { step: "restoring" }>): Plan {
  if (job === "running") return { action: "wait" };
  if (job !== "none") {
    const message = failureOf(job);
    if (message === undefined) return { action: "boot" };
    return fail(job.kind === "refused" ? job.fault.code : "job_failed", message);
  }
  if (!worldVolume) return fail("world_gone", "the server or its world is gone");
  return backup
    ? { action: "start-restore", worldVolume, backup }
    : fail("backup_gone", "the backup is gone");
}

function decideBoot({ pod, set, ageMs }: Extract<Observed, { step: "booting" }>, { bootMs }: Limits): Plan {
  if (!pod) {
    if (set) return { action: "start-server", set };
    return fail("never_started", "the server was never started, so it has no pod template");
  }
  if (pod.hasExited) return fail("server_exited", "the server exited during startup");
  if (pod.version !== undefined) {
    const bootSeconds = Math.round(Math.min(pod.ageMs, ageMs) / 1_000);
    return { action: "pass", result: { version: pod.version, boot_seconds: bootSeconds } };
  }
  return pod.ageMs <= bootMs
    ? { action: "wait" }
    : fail("server_not_ready", "the server did not become ready in time");
}

function fail(code: DrillCode, message: string): Plan {
  return { action: "fail", code, message };
}
