// One pass over the bucket (docs/reference/off-site.md#order). A process that dies anywhere leaves copies that the next pass
// finds and records, and deletes nothing that it had not decided to delete.

import type { ObjectStore } from "@svc/object-store";
import type { offsites } from "@svc/proto";
import type { PassReport } from "../database.ts";
import { checkKeys, WrongKeyError } from "./check-keys.ts";
import { type Claim, claimWriter } from "./claim.ts";
import { deleteObjects } from "./delete-objects.ts";
import { kindsOf } from "./kinds.ts";
import { listBucket } from "./listing.ts";
import type { Pass, PassDeps } from "./pass-context.ts";
import { createProgress } from "./progress.ts";
import { sealAgain } from "./seal-again.ts";
import { isOfOneObject, isOutOfReach } from "./send.ts";
import { sendArchives } from "./send-archives.ts";
import { sendBundles } from "./send-bundles.ts";
import { sendIndexed } from "./send-indexed.ts";
import { sendSnapshot } from "./send-snapshot.ts";
import { StandbyError } from "./writer.ts";

export type PassResult = { state: Exclude<offsites.OffsitePass["state"], "running">; report: PassReport };

const shownFailures = 50;

/** Never throws for what a later pass may find mended. */
export async function runPass(deps: PassDeps): Promise<PassResult> {
  const report: PassReport = { sent: 0, sent_bytes: 0, deleted: 0, failed: 0, failures: [] };
  try {
    await work(deps, report);
    return { state: report.failed === 0 ? "completed" : "incomplete", report };
  } catch (error) {
    report.error = (error as Error).message;
    if (error instanceof WrongKeyError) return { state: "wrong_key", report };
    if (!(error instanceof StandbyError)) return { state: "failed", report };
    if (error.writer) report.writer = { ...error.writer, is_this_host: false };
    return { state: "standby", report };
  }
}

async function work(deps: PassDeps, report: PassReport): Promise<void> {
  const { bucket, ring, host, settings, now, step, signal } = deps;
  step("keys");
  const keys = await checkKeys(deps);
  report.key_id = ring.active.id;
  step("probe");
  const able = await bucket.probe({ signal });
  report.store = storeOf(able, bucket.clockOffsetMs());
  step("claim");
  const claim = await claimWriter({
    bucket,
    host,
    conditionalPut: able.conditionalPut,
    settleMs: settings.writer_settle,
    now,
    signal,
  });
  await keys.record();
  step("list");
  const listedAt = new Date(now());
  const listing = await listBucket(bucket, signal);
  const progress = createProgress(deps.onProgress, now);
  const pass: Pass = {
    ...deps,
    claim,
    listing,
    progress,
    report,
    attempt: createAttempt(report, claim, now),
  };
  await sendBundles(pass);
  await sendArchives(pass, listedAt);
  await sendSnapshot(pass, (await pass.archives.list()).archives);
  const indexed = await sendIndexed(pass);
  // What was deleted or expired while a long pass sent is known now.
  const known = await pass.archives.list();
  await deleteObjects(pass, { ...known, indexed });
  report.kinds = await kindsOf(pass, { archives: known.archives, indexed });
  await sealAgain(pass, keys);
  step("abandoned");
  await bucket.abortAbandonedUploads({ before: new Date(now() - abandonedMs), signal });
  step("finish");
  report.writer = { ...(await claim.renew()), is_this_host: true };
}

const abandonedMs = 7 * 86_400_000;

/** Requests that are signed at another time are refused; the store's own answer corrects it. */
const largestClockOffsetMs = 900_000;

function storeOf(
  able: Awaited<ReturnType<ObjectStore["probe"]>>,
  clockOffsetMs: number,
): offsites.OffsiteStore {
  const { conditionalPut, versioning, objectLock } = able;
  const isOn = typeof objectLock !== "string";
  return {
    conditional_put: conditionalPut,
    versioning,
    object_lock: isOn ? objectLock.mode : objectLock,
    ...(isOn && objectLock.days !== undefined && { object_lock_days: objectLock.days }),
    ...(Math.abs(clockOffsetMs) > largestClockOffsetMs && {
      clock_ahead_seconds: Math.round(clockOffsetMs / 1_000),
    }),
  };
}

/** Objects for which the store or an owner was out of reach, without a success in between; the next one would fail too. */
const mostInARow = 3;
/** How long a pass relies on having been the writer. */
const claimTrustMs = 60_000;

function createAttempt(report: PassReport, claim: Claim, now: () => number): Pass["attempt"] {
  let inARow = 0;
  let checkedAt = now();
  return async (key, work) => {
    if (now() - checkedAt > claimTrustMs) {
      await claim.assertHeld();
      checkedAt = now();
    }
    try {
      await work();
      inARow = 0;
      return true;
    } catch (error) {
      if (isOutOfReach(error)) inARow += 1;
      report.failed += 1;
      const failure = { key, error: (error as Error).message };
      if (report.failures.length < shownFailures) report.failures.push(failure);
      if (inARow >= mostInARow || !isOfOneObject(error)) throw error;
      return false;
    }
  };
}
