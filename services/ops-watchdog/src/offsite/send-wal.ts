// Copies the archive of the log (docs/reference/off-site.md#wal): what is whole once, and how far the newest run is each time.

import { access } from "node:fs/promises";
import { join } from "node:path";
import { isObjectStoreError } from "@svc/object-store";
import { parseReceived, type Run, readArchive } from "../wal/folder.ts";
import { formatLsn, segmentName, segmentStart } from "../wal/lsn.ts";
import type { Pass } from "./pass-context.ts";
import { firstCovered } from "./wal-coverage.ts";
import { keyOfWal } from "./wal-key.ts";
import { contentOf, type LocalPart, openSegmentUntil, partsOfRun } from "./wal-local.ts";
import { readWalObject, sealedSizeOf, sendWalObject } from "./wal-object.ts";
import { readWalState, type WalState, writeWalState } from "./wal-state.ts";

type WalPass = Pick<
  Pass,
  "bucket" | "ring" | "listing" | "progress" | "report" | "attempt" | "step" | "signal" | "now"
> & { walDir: string; stateDir: string };

/** Returns the runs as they were when it began. */
export async function sendWal(pass: WalPass): Promise<Run[]> {
  // How far it was received is read before the list of what is whole: so the list has everything until there.
  const before = new Map((await readArchive(pass.walDir)).runs.map(({ name, received }) => [name, received]));
  const { runs } = await readArchive(pass.walDir);
  const known = await readWalState(pass.stateDir);
  const state: WalState = { at: new Date(pass.now()).toISOString(), runs: {} };
  // The newest first: it is what changes.
  for (const run of [...runs].reverse()) {
    await sendParts(pass, run);
    const received = before.get(run.name);
    const covered = received && (await sendReceived(pass, { ...run, received }, known?.runs[run.name]));
    if (covered) state.runs[run.name] = covered;
  }
  await writeWalState(pass.stateDir, state);
  return runs;
}

/** Parts of a run whose copy is not whole; none where a base backup is being deleted. */
export async function lackingParts({ listing }: Pick<WalPass, "listing">, run: Run): Promise<LocalPart[]> {
  const parts = await partsOfRun(run).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    return [];
  });
  return parts.filter(({ path, sizeBytes }) => stateOf(listing, path, sizeBytes) !== "whole");
}

const stateOf = (listing: WalPass["listing"], path: string, sizeBytes: number) =>
  listing.stateOf(keyOfWal(path), sealedSizeOf(path, sizeBytes));

async function sendParts(pass: WalPass, run: Run): Promise<void> {
  const due = await lackingParts(pass, run);
  pass.progress.expect(
    // It is counted with the bundles: both are the database.
    "db",
    due.map(({ path, sizeBytes }) => sealedSizeOf(path, sizeBytes)),
  );
  for (const part of due) {
    pass.step("wal-part");
    const onProgress = pass.progress.begin("db");
    await pass.attempt(keyOfWal(part.path), async () => {
      try {
        await sendOne(pass, { ...part, sha256: await part.digest(), onProgress });
      } catch (error) {
        // The retention of the folder may have deleted it meanwhile.
        if (await isThere(join(pass.walDir, part.path))) throw error;
      }
    });
    pass.progress.end(sealedSizeOf(part.path, part.sizeBytes));
  }
}

const isThere = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

async function sendOne(pass: WalPass, part: Parameters<typeof sendWalObject>[1]): Promise<void> {
  const sent = await sendWalObject(pass, part);
  pass.report.sent += 1;
  pass.report.sent_bytes += sent;
  pass.listing.added(keyOfWal(part.path), sent);
}

type Received = Run & { received: NonNullable<Run["received"]> };
type Covered = WalState["runs"][string];

/**
 * The open segment, and then how far everything is there. A process that is killed in between leaves more bytes than are
 * counted. What is covered now; what was covered before while that cannot be said.
 */
async function sendReceived(
  pass: WalPass,
  run: Received,
  known: Covered | undefined,
): Promise<Covered | undefined> {
  const { listing, step } = pass;
  const { lsn, until } = run.received;
  const lacking = new Set((await lackingParts(pass, run)).map(({ path }) => path));
  const has = (path: string) => listing.find(keyOfWal(path)) !== undefined && !lacking.has(path);
  const before = has(`${run.name}/received.json`) ? known : undefined;
  const base = firstCovered(run, lsn, has);
  if (!base) return before;
  const covered = { from: base.about.ended_at, until: until.toISOString() };
  if (before?.until === covered.until) return covered;
  const copied = before ? undefined : await findReceived(pass, run);
  if (copied && copied.lsn >= lsn) return { ...covered, until: copied.until.toISOString() };
  const name = segmentName(run.about.timeline, lsn);
  const open = `${run.name}/wal/${name}.partial`;
  const isOpen = lsn > segmentStart(lsn) && !has(`${run.name}/wal/${name}`);
  const isSent = await pass.attempt(keyOfWal(open), async () => {
    if (isOpen) {
      step("wal-open");
      await sendOne(pass, { path: open, ...(await openSegmentUntil(run, { name, lsn })) });
    }
    step("wal-received");
    const text = JSON.stringify({ until: covered.until, lsn: formatLsn(lsn) });
    await sendOne(pass, { path: `${run.name}/received.json`, ...contentOf(Buffer.from(text)) });
    step("wal-sent");
  });
  return isSent ? covered : before;
}

/**
 * What the bucket says of a run of which this host does not know it. It may be further than the folder, into which a part of the
 * copies was fetched. Undefined where there is none that can be read.
 */
async function findReceived(pass: WalPass, { name }: Run): Promise<Run["received"]> {
  const path = `${name}/received.json`;
  if (!pass.listing.find(keyOfWal(path))) return undefined;
  try {
    return parseReceived((await readWalObject(pass, path)).toString("utf8"));
  } catch (error) {
    if (isObjectStoreError(error)) throw error;
    return undefined;
  }
}
