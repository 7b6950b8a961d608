// Reads what a move's next step depends on, once, before anything is decided.

import { type Job, resources } from "@svc/kube";
import type { MoveRow } from "../database/world-migrations.ts";
import { type ClusterDeps, inNamespace, logDepsOf, type StorageDeps } from "../deps.ts";
import { findReceipt } from "../job/archive-ticket-store.ts";
import { observeJob } from "../job/outcome.ts";
import { findWorld } from "../job/world.ts";
import { findTargetFault, isOnline, nodeIdentity } from "../volume/node.ts";
import { findPlacedClaim, nodeOf } from "../volume/placed-claim.ts";
import { holdsLock } from "./begin.ts";
import type { Ends, Observed } from "./decide.ts";
import { jobName, jobNames } from "./job-spec.ts";
import { findMoveBackup } from "./store.ts";

/** Undefined for a move that has ended. */
export async function observeMove(deps: StorageDeps, row: MoveRow): Promise<Observed | undefined> {
  if (row.locked_at === null) {
    const ageMs = deps.now() - row.started_at.getTime();
    return { step: "locking", holdsLock: await holdsLock(deps, row), ageMs };
  }
  if (row.state === "backing_up") {
    const ends = await observeEnds(deps, row);
    const name = jobName(row, "backup");
    const job = await observeJob(logDepsOf(deps), name);
    // After the Job: one that sent its archive and was deleted in between has its receipt by now.
    return { step: "backing_up", ends, job, receipt: await findReceipt(deps.db, name) };
  }
  if (row.state === "restoring") {
    const ends = await observeEnds(deps, row);
    const backup = await findMoveBackup(deps.db, row);
    return {
      step: "restoring",
      ends,
      backup,
      job: await observeJob(logDepsOf(deps), jobName(row, "restore")),
    };
  }
  if (row.state === "switching") {
    const areJobsGone = await haveJobsGone(deps, row);
    const node = nodeOf(await findPlacedClaim(deps, row.target_claim));
    return { step: "switching", areJobsGone, targetNode: node && nodeIdentity(node) };
  }
  return undefined;
}

async function observeEnds(
  deps: Pick<StorageDeps, "kube" | "mesh" | "settings">,
  row: MoveRow,
): Promise<Ends> {
  const world = await findWorld(deps, row.server_name);
  const [isLocked, { items: nodes }, placed] = await Promise.all([
    holdsLock(deps, row),
    deps.kube.list(resources.nodes),
    findPlacedClaim(deps, row.source_claim),
  ]);
  const node = nodeOf(placed);
  return {
    world,
    holdsLock: isLocked,
    canTargetTakeWorlds: findTargetFault(nodes, row.target_node) === undefined,
    source: placed && {
      uid: placed.uid,
      node: node && nodeIdentity(node),
      isOnline: node !== undefined && isOnline(node),
    },
  };
}

async function haveJobsGone(deps: ClusterDeps, row: MoveRow): Promise<boolean> {
  const names = jobNames(row);
  const labelSelector = `job-name in (${names.join(",")})`;
  const jobs = await Promise.all(names.map((name) => findJob(deps, name)));
  const { items: pods } = await deps.kube.list(resources.pods, { ...inNamespace(deps), labelSelector });
  return jobs.every((job) => job === undefined) && pods.length === 0;
}

function findJob(deps: ClusterDeps, name: string): Promise<Job | undefined> {
  return deps.kube.find(resources.jobs, { name, ...inNamespace(deps) });
}
