// The archive of the log as it is in the bucket.

import { join } from "node:path";
import type { ObjectStore } from "@svc/object-store";
import type { KeyRing } from "@svc/sealed";
import { type Base, parseBase, parseReceived, parseRun, type Run } from "../wal/folder.ts";
import { isOfOneObject } from "./send.ts";
import { isCopied } from "./wal-coverage.ts";
import { type WalPath, walOfKey } from "./wal-key.ts";
import { readWalObject } from "./wal-object.ts";

type Access = { bucket: ObjectStore; ring: KeyRing; signal: AbortSignal };

export type CopiedRun = Run & { paths: ReadonlySet<string> };

type ReadAccess = Access & {
  /** Gets what cannot be read and is left out. Without it that is thrown. */
  onUnreadable?: (path: string, error: Error) => void;
};

/** Every run of these keys, oldest first, with the paths that it would have in a folder. */
export async function readCopiedRuns(
  access: ReadAccess,
  keys: Iterable<string>,
  dir: string,
): Promise<CopiedRun[]> {
  const parts = [...keys].flatMap((key) => walOfKey(key) ?? []);
  const byRun = Map.groupBy(parts, ({ run }) => run);
  const runs: CopiedRun[] = [];
  for (const name of [...byRun.keys()].sort()) {
    const run = await readRun(access, { name, dir, parts: byRun.get(name) ?? [] });
    if (run) runs.push(run);
  }
  return runs;
}

type Found = { name: string; dir: string; parts: readonly WalPath[] };

/** Undefined for what a killed pass left before the first part of a run. */
async function readRun(access: ReadAccess, { name, dir, parts }: Found): Promise<CopiedRun | undefined> {
  const paths = new Set(parts.map(({ path }) => path));
  const read = async <T>(file: string, parse: (text: string) => T): Promise<T | undefined> => {
    const path = `${name}/${file}`;
    if (!paths.has(path)) return undefined;
    try {
      return parse((await readWalObject(access, path)).toString("utf8"));
    } catch (error) {
      if (!access.onUnreadable || !isOfOneObject(error)) throw error;
      access.onUnreadable(path, error as Error);
      return undefined;
    }
  };
  const about = await read("run.json", parseRun);
  if (!about) return undefined;
  const received = await read("received.json", parseReceived);
  const path = join(dir, name);
  const bases: Base[] = [];
  const named = parts.flatMap((part) =>
    part.kind === "base" && part.file === "base.json" ? [part.base] : [],
  );
  for (const base of named.sort()) {
    const found = await read(`${base}/base.json`, (text) => parseBase(text, join(path, base), base));
    if (found) bases.push(found);
  }
  const starts = (kind: "segment" | "open") =>
    parts
      .flatMap((part) => (part.kind === kind ? [{ name: part.segment, start: part.start }] : []))
      .sort((a, b) => (a.start < b.start ? -1 : 1));
  const run = { name, path, about, received, segments: starts("segment"), bases, paths };
  return { ...run, partial: starts("open").at(-1) };
}

/** Whether a base backup can be recovered from the copies. */
export const isUsableCopy = (run: CopiedRun, base: Base): boolean =>
  isCopied(run, base, (path) => run.paths.has(path));
