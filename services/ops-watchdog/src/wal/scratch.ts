// The scratch folder of a recovery: the files of a base backup and the log that is applied to them.

import { constants } from "node:fs";
import {
  chown,
  copyFile,
  type FileHandle,
  link,
  mkdir,
  open,
  readFile,
  rm,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { digestOfFile } from "./file-digest.ts";
import type { Base, Run } from "./folder.ts";
import { formatLsn, nextSegment, parseLsn, segmentBytes, segmentName, segmentStart } from "./lsn.ts";
import { readBase } from "./read-base.ts";

/** The account that the server runs as, where it is another one. */
export type Owner = { uid?: number | undefined; gid?: number | undefined };

async function give(path: string, { uid, gid }: Owner): Promise<void> {
  if (uid !== undefined && gid !== undefined) await chown(path, uid, gid);
}

export async function makeFolder(path: string, owner: Owner): Promise<string> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  await give(path, owner);
  return path;
}

export async function makeFile(path: string, text: string, owner: Owner): Promise<void> {
  await writeFile(path, text, { mode: 0o600 });
  await give(path, owner);
}

/** Unpacks a base backup into a new folder, each file compared with the manifest. */
export async function unpackBase(base: Base, data: string, owner: Owner): Promise<void> {
  await makeFolder(data, owner);
  let file: FileHandle | undefined;
  const close = async () => {
    await file?.close();
    file = undefined;
  };
  try {
    await readBase(base.path, {
      folder: async (name) => void (await makeFolder(join(data, name), owner)),
      file: async (name) => {
        await close();
        const path = join(data, name);
        await mkdir(dirname(path), { recursive: true, mode: 0o700 });
        file = await open(path, "wx", 0o600);
        await give(path, owner);
      },
      write: async (bytes) => {
        for (let done = 0; done < bytes.length; )
          done += (await file?.write(bytes, done, bytes.length - done))?.bytesWritten ?? bytes.length;
      },
    });
  } finally {
    await close();
  }
  // Settings of the old server that would win over ours, and what makes it follow another one.
  for (const name of ["postgresql.auto.conf", "standby.signal", "postmaster.pid"])
    await rm(join(data, name), { force: true });
  await makeFile(join(data, "postgresql.auto.conf"), "", owner);
}

/** The log is missing or not as it came. */
class DamagedWalError extends Error {
  override name = "DamagedWalError";
}

/**
 * Puts the log from the beginning of a base until `until` into one folder, as the server asks for it. Every whole segment is
 * compared with its digest.
 */
export async function gatherLog(
  run: Run,
  about: { base: Base; until: bigint; dir: string; owner: Owner },
): Promise<void> {
  const { base, until, dir, owner } = about;
  await makeFolder(dir, owner);
  const { timeline } = run.about;
  const whole = new Set(run.segments.map(({ start }) => start));
  for (let at = segmentStart(parseLsn(base.about.start)); at < until; at = nextSegment(at)) {
    const name = segmentName(timeline, at);
    const target = join(dir, name);
    const source = join(run.path, "wal", name);
    const isOpen = run.partial?.start === at && (await copyOpen(`${source}.partial`, target));
    // An open one may have become whole meanwhile.
    if (whole.has(at) || (run.partial?.start === at && !isOpen)) {
      await checkDigest(source, name);
      await place(source, target, owner);
    } else if (isOpen) {
      // The server that is recovered stops at the zeros that follow.
      const file = await open(target, "r+");
      await file.truncate(segmentBytes);
      await file.close();
      await give(target, owner);
    } else throw new DamagedWalError(`${run.name}: the segment ${name} is missing`);
  }
}

async function copyOpen(source: string, target: string): Promise<boolean> {
  try {
    await copyFile(source, target);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

async function place(source: string, target: string, owner: Owner): Promise<void> {
  // Another account may not read ours, and a link has the owner of the file.
  const isLinked =
    owner.uid === undefined &&
    (await link(source, target).then(
      () => true,
      () => false,
    ));
  if (isLinked) return;
  await copyFile(source, target, constants.COPYFILE_FICLONE);
  await give(target, owner);
}

async function checkDigest(path: string, name: string): Promise<void> {
  const [expected] = (await readFile(`${path}.sha256`, "utf8").catch(() => "")).split(" ");
  if (!expected) throw new DamagedWalError(`the digest of the segment ${name} is missing`);
  if ((await digestOfFile(path)) !== expected)
    throw new DamagedWalError(`the segment ${name} is not as it was received`);
}

/**
 * Throws unless everything until `until` was replayed: a server takes a damaged record for the end of its log. The last
 * record may be there in part.
 */
export async function checkReplayed(
  dir: string,
  about: { timeline: number; replayed: bigint; until: bigint },
) {
  const { timeline, replayed, until } = about;
  if (replayed >= until) return;
  // Records are aligned to 8 bytes; a page begins with a header of 24, a segment with one of 40.
  let record = (replayed + 7n) & ~7n;
  if (record % 8_192n === 0n) record += record % BigInt(segmentBytes) === 0n ? 40n : 24n;
  if (record + 4n > until) return;
  const file = await open(join(dir, segmentName(timeline, record)), "r");
  const length = Buffer.alloc(4);
  try {
    await file.read(length, 0, 4, Number(record - segmentStart(record)));
  } finally {
    await file.close();
  }
  if (record + BigInt(length.readUInt32LE(0)) > until) return;
  throw new DamagedWalError(
    `the log ends at ${formatLsn(replayed)}, before the ${formatLsn(until)} that was received: a segment is damaged`,
  );
}
