// One pass over the bucket (docs/reference/off-site.md#order). A process that dies anywhere leaves copies that the next pass
// finds and records, and deletes nothing that it had not decided to delete.

import type { ObjectStore } from "@svc/object-store";
import type { offsites } from "@svc/proto";
import type { PassReport } from "../database.ts";
import type { Run } from "../wal/folder.ts";
import { createAttempt } from "./attempt.ts";
import { checkKeys, WrongKeyError } from "./check-keys.ts";
import { claimWriter } from "./claim.ts";
import { deleteObjects } from "./delete-objects.ts";
import { kindsOf, walCopiesOf } from "./kinds.ts";
import { listBucket } from "./listing.ts";
import { readPacked, writePacked } from "./packed.ts";
import type { Pass, PassDeps } from "./pass-context.ts";
import { createProgress } from "./progress.ts";
import { sealAgain } from "./seal-again.ts";
import { sendArchives } from "./send-archives.ts";
import { sendBundles } from "./send-bundles.ts";
import { sendIndexed } from "./send-indexed.ts";
import { sendSnapshot } from "./send-snapshot.ts";
import { sendWal } from "./send-wal.ts";
import { StandbyError } from "./writer.ts";

export type PassResult = { state: Exclude<offsites.OffsitePass["state"], "running">; report: PassReport };

/** Never throws for what a later pass may find mended. */
export async function runPass(deps: PassDeps): Promise<PassResult> {
  return reportOn((report) => work(deps, report));
}

/** The result of a pass, whatever ended it. */
export async function reportOn(pass: (report: PassReport) => Promise<void>): Promise<PassResult> {
  const report: PassReport = { sent: 0, sent_bytes: 0, deleted: 0, failed: 0, failures: [] };
  try {
    await pass(report);
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
  const attempt = createAttempt(report, claim, now);
  step("packs");
  const packed = await readPacked({ ...deps, listing, attempt });
  const arePacksSent = settings.packs && !isLocked(able);
  const pass: Pass = { ...deps, claim, listing, packed, arePacksSent, progress, report, attempt };
  await sendBundles(pass);
  const runs = await sendOwnWal(pass);
  const { recordedAt, unchanged } = await sendArchives(pass, listedAt);
  await sendSnapshot(pass, recordedAt);
  const indexed = await sendIndexed(pass);
  const isIdle = report.sent === 0 && report.failed === 0;
  // Sending can take hours, in which backups are deleted and expire.
  const known = (isIdle ? unchanged : undefined) ?? (await pass.archives.list());
  await deleteObjects(pass, { ...known, indexed });
  step("pack-list");
  await writePacked(pass);
  report.kinds = await kindsOf(pass, { archives: known.archives, indexed });
  if (runs) report.wal_copies = await walCopiesOf(pass, runs);
  await sealAgain(pass, keys);
  step("abandoned");
  await bucket.abortAbandonedUploads({ before: new Date(now() - abandonedMs), signal });
  step("finish");
  report.writer = { ...(await claim.renew()), is_this_host: true };
}

/** The runs that were sent; none while the pass of the log alone sends them. */
async function sendOwnWal(pass: Pass): Promise<Run[]> {
  const { dir, exclusively } = pass.wal;
  if (dir === undefined) return [];
  pass.step("wal");
  return (
    (await exclusively(() => sendWal({ ...pass, walDir: dir, stateDir: pass.settings.state_dir }))) ?? []
  );
}

/** A lock ends so long after an object was stored, and a pack is needed for as long as the newest archive that names it. */
const isLocked = ({ objectLock }: Able): boolean =>
  typeof objectLock !== "string" && objectLock.mode !== "none";

const abandonedMs = 7 * 86_400_000;

/** Requests that are signed at another time are refused; the store's own answer corrects it. */
const largestClockOffsetMs = 900_000;

type Able = Awaited<ReturnType<ObjectStore["probe"]>>;

function storeOf(able: Able, clockOffsetMs: number): offsites.OffsiteStore {
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
