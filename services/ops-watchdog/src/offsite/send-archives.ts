import { sealedSize } from "@svc/sealed";
import type { ArchiveStore } from "./archive-store.ts";
import { keyOfArchive } from "./object-key.ts";
import { checkOwnCopies, type OwnCopies } from "./own-copies.ts";
import { packedStateIn } from "./packed.ts";
import { betterState } from "./packed-copies.ts";
import type { Pass } from "./pass-context.ts";
import { type Archive, type CopyState, planArchives } from "./plan-archives.ts";
import { send } from "./send.ts";
import { sendPacked } from "./send-packed.ts";

type Listed = Awaited<ReturnType<ArchiveStore["list"]>>;

type SentArchives = {
  /** When the newest copy was recorded, in unix ms; 0 = there is none. */
  recordedAt: number;
  /** The archives as they were listed, where nothing about them was recorded or sent since. */
  unchanged: Listed | undefined;
};

/** Brings what is recorded of copies in line with the bucket, and copies the archives that have none. */
export async function sendArchives(pass: Pass, listedAt: Date): Promise<SentArchives> {
  const { archives, progress, step, now } = pass;
  const found = await archives.list();
  const own = await checkOwnCopies(pass, found.archives);
  const plan = planArchives(found.archives, copyStateIn(pass));
  step("clear");
  await archives.record(plan.clear.map(({ id, sha256 }) => ({ id, sha256, at: null })));
  step("confirm");
  await archives.confirm(listedAt);
  step("record");
  const at = new Date(now()).toISOString();
  await archives.record(plan.record.map(({ id, sha256 }) => ({ id, sha256, at })));
  let recordedAt = plan.record.length > 0 ? Date.parse(at) : newestRecorded(found.archives, plan.clear);
  progress.expect(
    "worlds",
    plan.send.map(({ size_bytes }) => sealedSize(size_bytes)),
  );
  for (const archive of plan.send) {
    step("archive");
    if (await sendArchive(pass, archive, own)) recordedAt = now();
  }
  await own.write();
  const isUnchanged = plan.clear.length + plan.record.length + plan.send.length === 0;
  return { recordedAt, unchanged: isUnchanged ? found : undefined };
}

function newestRecorded(archives: readonly Archive[], cleared: readonly Archive[]): number {
  const gone = new Set(cleared);
  let newest = 0;
  for (const archive of archives)
    if (archive.offsite_at !== undefined && !gone.has(archive))
      newest = Math.max(newest, Date.parse(archive.offsite_at));
  return newest;
}

/** Of the copy of an archive, in whichever form it is there. */
export function copyStateIn(pass: Pick<Pass, "listing" | "packed">): (archive: Archive) => CopyState {
  const packedState = packedStateIn(pass);
  return (archive) => {
    const whole = pass.listing.stateOf(keyOfArchive(archive.archive), sealedSize(archive.size_bytes));
    return whole === "whole" ? whole : betterState(whole, packedState(archive));
  };
}

/** False when it failed for now. */
async function sendArchive(pass: Pass, archive: Archive, own: OwnCopies): Promise<boolean> {
  const { id, sha256, size_bytes: sizeBytes, is_deduplicated: isDeduplicated = false } = archive;
  const key = keyOfArchive(archive.archive);
  const tell = pass.progress.begin("worlds");
  const onProgress = (sentBytes: number) => {
    pass.step("sent");
    tell(sentBytes);
  };
  const isSent = await pass.attempt(key, async () => {
    const isInPacks = isDeduplicated && pass.arePacksSent && (await sendPacked(pass, archive, onProgress));
    const onStored = (tag: string) => own.stored(key, tag);
    if (!isInPacks) await sendWhole(pass, archive, { onProgress, onStored });
    pass.step("stored");
    await pass.archives.record([{ id, sha256, at: new Date(pass.now()).toISOString() }]);
  });
  pass.progress.end(sealedSize(sizeBytes));
  return isSent;
}

async function sendWhole(
  pass: Pass,
  archive: Archive,
  on: { onProgress: (sentBytes: number) => void; onStored: (tag: string) => void },
): Promise<void> {
  const { id, sha256, size_bytes: sizeBytes } = archive;
  const key = keyOfArchive(archive.archive);
  const sent = await send(pass, { key, sizeBytes, sha256, open: () => pass.archives.open(id), ...on });
  pass.report.sent += 1;
  pass.report.sent_bytes += sent;
  pass.listing.added(key, sent);
}
