// Brings back the archive of the log (docs/reference/off-site.md#fetch), whole or what one point in time needs. It needs the
// bucket and the key, nothing else.

import { createHash } from "node:crypto";
import { mkdir, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { zstdDecompress } from "node:zlib";
import type { ObjectStore } from "@svc/object-store";
import type { KeyRing } from "@svc/sealed";
import { syncPath, writeDurably, writeInto } from "../bundle/durable.ts";
import { chooseRecovery, coverageText } from "../wal/choose.ts";
import { digestOfFile } from "../wal/file-digest.ts";
import { type Base, parseReceived } from "../wal/folder.ts";
import { formatLsn, nextSegment, parseLsn, segmentBytes, segmentName, segmentStart } from "../wal/lsn.ts";
import { readBase } from "../wal/read-base.ts";
import { isOfOneObject } from "./send.ts";
import { type CopiedRun, isUsableCopy, readCopiedRuns } from "./wal-copies.ts";
import { baseFiles } from "./wal-key.ts";
import { openWalObject, readWalObject } from "./wal-object.ts";

const decompress = promisify(zstdDecompress);

type FetchWalDeps = {
  bucket: ObjectStore;
  ring: KeyRing;
  walDir: string;
  step: (name: string) => void;
  signal: AbortSignal;
};

export type FetchedWal = {
  dir: string;
  in_place: number;
  fetched: number;
  fetched_bytes: number;
  failures: { key: string; error: string }[];
  /** What the fetched runs cover. */
  runs: { name: string; from: string; until: string }[];
};

/** What is fetched of a run. */
type Wanted = {
  run: CopiedRun;
  /** Newest first. */
  bases: readonly Base[];
  /** One of them is enough. */
  isOneEnough: boolean;
  until: { at: Date; lsn: bigint };
};

/** Throws when the time is not covered by the copies. */
export async function fetchWal(deps: FetchWalDeps, at: Date | undefined): Promise<FetchedWal> {
  const keys: string[] = [];
  for await (const { key } of deps.bucket.list("wal/", { signal: deps.signal })) keys.push(key);
  const done: FetchedWal = {
    ...{ dir: deps.walDir, in_place: 0, fetched: 0, fetched_bytes: 0 },
    ...{ failures: [], runs: [] },
  };
  // What cannot be read of one run is no reason to leave the others.
  const onUnreadable = (key: string, { message }: Error) => void done.failures.push({ key, error: message });
  const runs = (await readCopiedRuns({ ...deps, onUnreadable }, keys, deps.walDir)).map((run) => ({
    ...run,
    bases: run.bases.filter((base) => isUsableCopy(run, base)),
  }));
  for (const wanted of at === undefined ? runs.flatMap(wholeRun) : [forTime(runs, at, done)])
    await fetchRun(deps, wanted, done);
  if (at === undefined && keys.length === 0)
    throw new Error("the bucket has no log; check offsite.bucket and offsite.prefix");
  return done;
}

/** A run of which nothing can be recovered is left in the bucket. */
function wholeRun(run: CopiedRun): Wanted[] {
  const { received, bases } = run;
  if (!received || bases.length === 0) return [];
  return [
    {
      ...{ run, bases: bases.toReversed(), isOneEnough: false },
      until: { at: received.until, lsn: received.lsn },
    },
  ];
}

function forTime(runs: readonly CopiedRun[], at: Date, { failures }: FetchedWal): Wanted {
  const choice = chooseRecovery(runs, at);
  const run = runs.find(({ name }) => name === choice?.run.name);
  if (!choice || !run)
    throw new Error(
      [
        `${at.toISOString()} cannot be recovered from the bucket: ${coverageText(runs)}`,
        ...failures.map(({ key, error }) => `${key}: ${error}`),
      ].join("; "),
    );
  return { run, bases: choice.bases, isOneEnough: true, until: { at, lsn: choice.until } };
}

async function fetchRun(deps: FetchWalDeps, wanted: Wanted, done: FetchedWal): Promise<void> {
  const { run, bases, isOneEnough, until } = wanted;
  const { name, about } = run;
  await mkdir(join(run.path, "wal"), { recursive: true, mode: 0o700 });
  await fetchFile(deps, `${name}/run.json`, done);
  const fetched: Base[] = [];
  for (const base of bases) {
    if (isOneEnough && fetched.length > 0) break;
    if (await attempted(done, base.name, () => fetchBase(deps, { run, base }, done))) fetched.push(base);
  }
  const oldest = fetched.at(-1);
  // Without a base backup the log is of no use.
  if (!oldest) return;
  let isWhole = true;
  for (let at = segmentStart(parseLsn(oldest.about.start)); at < until.lsn; at = nextSegment(at)) {
    const segment = segmentName(about.timeline, at);
    const isThere = await attempted(done, `${name}/wal/${segment}`, () =>
      fetchSegment(deps, { run, segment, at, until: until.lsn }, done),
    );
    isWhole &&= isThere;
  }
  // Until this file is there nothing of the run counts.
  if (!isWhole) return;
  await placeReceived(deps, wanted);
  done.runs.push({ name, from: oldest.about.ended_at, until: until.at.toISOString() });
}

async function attempted(done: FetchedWal, key: string, work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    const { syscall } = error as NodeJS.ErrnoException;
    // What the disk refuses is refused for the others too.
    if (!isOfOneObject(error) || syscall !== undefined) throw error;
    done.failures.push({ key, error: (error as Error).message });
    return false;
  }
}

const sizeOf = (path: string) =>
  stat(path).then(
    ({ size }) => size,
    () => undefined,
  );

/** Small, and the same each time. */
async function fetchFile(deps: FetchWalDeps, path: string, done: FetchedWal): Promise<void> {
  const bytes = await readWalObject(deps, path);
  const target = join(deps.walDir, path);
  const here = await readFile(target).catch(() => undefined);
  if (here?.equals(bytes)) {
    done.in_place += 1;
    return;
  }
  if (here) throw new Error(`${target} is another file than the one that was copied; nothing was changed`);
  deps.step("wal-place");
  await writeDurably(target, bytes);
  await syncPath(dirname(target));
  count(done, bytes.length);
}

function count(done: FetchedWal, bytes: number): void {
  done.fetched += 1;
  done.fetched_bytes += bytes;
}

type OneBase = { run: CopiedRun; base: Base };

/** Into a hidden folder, compared with the manifest of the server, and then named. */
async function fetchBase(deps: FetchWalDeps, { run, base }: OneBase, done: FetchedWal): Promise<void> {
  const { step, signal } = deps;
  const isHere = await readBase(base.path).then(
    () => true,
    () => false,
  );
  if (isHere) {
    done.in_place += 1;
    return;
  }
  const partial = join(run.path, `.fetched-${base.name}.partial`);
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial, { mode: 0o700 });
  try {
    for (const file of baseFiles) {
      step("wal-download");
      const target = await writeInto(join(partial, file), "wx");
      await pipeline(openWalObject(deps, `${run.name}/${base.name}/${file}`), target, { signal });
    }
    step("wal-verify");
    await readBase(partial);
    await syncPath(partial);
    step("wal-rename");
    // A damaged one that is here goes only now.
    await rm(base.path, { recursive: true, force: true });
    await rename(partial, base.path);
    await syncPath(run.path);
    count(done, base.about.bytes);
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

type OneSegment = { run: CopiedRun; segment: string; at: bigint; until: bigint };

async function fetchSegment(deps: FetchWalDeps, about: OneSegment, done: FetchedWal): Promise<void> {
  const { run, segment, at, until } = about;
  const path = `${run.name}/wal/${segment}`;
  const target = join(run.path, "wal", segment);
  if (!run.paths.has(path))
    return fetchOpen(deps, { path: `${path}.partial`, length: Number(until - at) }, done);
  if (await isIntact(target)) {
    done.in_place += 1;
    return;
  }
  const partial = join(run.path, "wal", `.fetched-${segment}.partial`);
  try {
    deps.step("wal-download");
    const hash = createHash("sha256");
    await pipeline(
      openWalObject(deps, path),
      async function* (chunks: AsyncIterable<Uint8Array>) {
        for await (const chunk of chunks) {
          hash.update(chunk);
          yield chunk;
        }
      },
      await writeInto(partial),
      { signal: deps.signal },
    );
    deps.step("wal-place");
    // The digest first: a segment without one does not count.
    await writeDurably(`${target}.sha256`, `${hash.digest("hex")}  ${segment}\n`);
    deps.step("wal-rename");
    await rename(partial, target);
    await syncPath(dirname(target));
    count(done, segmentBytes);
  } finally {
    await rm(partial, { force: true });
  }
}

async function isIntact(path: string): Promise<boolean> {
  const expected = (await readFile(`${path}.sha256`, "utf8").catch(() => "")).slice(0, 64);
  if (expected === "" || (await sizeOf(path)) !== segmentBytes) return false;
  return (await digestOfFile(path)) === expected;
}

/** The beginning of a segment; what a receiver has written here meanwhile stays. */
async function fetchOpen(
  deps: FetchWalDeps,
  { path, length }: { path: string; length: number },
  done: FetchedWal,
): Promise<void> {
  const target = join(deps.walDir, path);
  const whole = target.slice(0, -".partial".length);
  if ((await isIntact(whole)) || ((await sizeOf(target)) ?? 0) >= length) {
    done.in_place += 1;
    return;
  }
  deps.step("wal-download");
  const bytes = await decompress(await readWalObject(deps, path), { maxOutputLength: segmentBytes });
  if (bytes.length < length) throw new Error(`it has ${bytes.length} of ${length} bytes`);
  deps.step("wal-place");
  await writeDurably(target, bytes);
  await syncPath(dirname(target));
  count(done, bytes.length);
}

/** Says until when everything is here; never less than what is known here. */
async function placeReceived({ step }: FetchWalDeps, { run, until }: Wanted): Promise<void> {
  const path = join(run.path, "received.json");
  const here = await readFile(path, "utf8")
    .then(parseReceived)
    .catch(() => undefined);
  if (here && here.lsn >= until.lsn && here.until >= until.at) return;
  step("wal-received");
  const text = { until: until.at.toISOString(), lsn: formatLsn(until.lsn) };
  await writeDurably(path, JSON.stringify(text));
  await syncPath(run.path);
  step("wal-fetched");
}
