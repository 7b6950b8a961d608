// What the rule of deletion needs to know of the log. The bucket is read only where something may go.

import { isObjectStoreError } from "@svc/object-store";
import { coverageOf, readArchive } from "../wal/folder.ts";
import { parseLsn } from "../wal/lsn.ts";
import { type WalFacts, walLimit } from "./deletion-wal.ts";
import type { Pass } from "./pass-context.ts";
import { isUsableCopy, readCopiedRuns } from "./wal-copies.ts";
import { baseFiles, keyOfWal, walOfKey } from "./wal-key.ts";

/** Undefined where nothing may be deleted. */
export async function readWalFacts(pass: Pass): Promise<WalFacts | undefined> {
  const { wal, listing, settings, now } = pass;
  if (wal.dir === undefined) return undefined;
  const { runs, problems } = await readArchive(wal.dir);
  const [covered] = runs.flatMap((run) => coverageOf(run) ?? []);
  if (!covered || problems.length > 0) return undefined;
  const local = new Set(
    runs.flatMap((run) => [
      ...["run.json", "received.json"].map((name) => `${run.name}/${name}`),
      ...run.bases.flatMap(({ name }) => baseFiles.map((file) => `${run.name}/${name}/${file}`)),
      ...run.segments.map(({ name }) => `${run.name}/wal/${name}`),
      ...(run.partial ? [`${run.name}/wal/${run.partial.name}`] : []),
    ]),
  );
  const facts = {
    coveredFrom: covered.from,
    local,
    localKeepMs: wal.keepMs,
    keepMs: settings.wal_extra_keep,
  };
  if (!mayDelete(listing.all(), { ...facts, limit: walLimit(facts, now()) })) return undefined;
  let copies: Awaited<ReturnType<typeof readCopiedRuns>> = [];
  const isRead = await pass.attempt("the copies of the log", async () => {
    copies = await readCopiedRuns(pass, listing.keys(), wal.dir ?? "").catch(onlyUnreadable);
  });
  if (!isRead || copies.length === 0) return undefined;
  return {
    ...facts,
    runs: copies.map((run) => ({
      name: run.name,
      startedAt: new Date(run.about.started_at),
      segments: run.segments,
      bases: run.bases.map((base) => ({
        name: base.name,
        endedAt: base.endedAt,
        start: parseLsn(base.about.start),
        isUsable: isUsableCopy(run, base),
      })),
    })),
  };
}

type Objects = ReturnType<Pass["listing"]["all"]>;
type Local = { local: ReadonlySet<string>; limit: number };

/** Whether a part that is not here is old enough by the bucket, or was replaced by the whole segment. */
function mayDelete(objects: Objects, { local, limit }: Local): boolean {
  const keys = new Set(objects.map(({ key }) => key));
  return objects.some(({ key, modifiedAt }) => {
    const part = walOfKey(key);
    if (!part || local.has(part.path)) return false;
    if (part.kind === "open") return keys.has(keyOfWal(part.path.replace(/\.partial$/, "")));
    return modifiedAt === undefined || modifiedAt.getTime() <= limit;
  });
}

function onlyUnreadable(error: unknown): never[] {
  if (isObjectStoreError(error)) throw error;
  return [];
}
