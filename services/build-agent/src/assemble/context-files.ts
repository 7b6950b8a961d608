// The files of an unpacked context that a COPY names. Nothing outside of the context is ever found: the real path of
// each source is compared, and links below it are copied as links.

import { lstat, readdir, readlink, realpath } from "node:fs/promises";
import { join, posix } from "node:path";
import { hasGlob, matchesPath } from "./glob.ts";
import type { Ignore } from "./ignore.ts";

export type SourceFile = {
  /** Below the source: empty for the source itself. */
  path: string;
  kind: "file" | "folder" | "link";
  mode: number;
  size: number;
  /** On disk. */
  at: string;
  target?: string;
};

export type Context = { root: string; ignore: Ignore };

type Source = { name: string; files: SourceFile[] };

/** One source for each match, sorted. Throws when nothing matches. */
export async function findSources(context: Context, pattern: string): Promise<Source[]> {
  // As Docker does: what goes up stops at the root of the context.
  const path = posix.resolve("/", pattern).slice(1);
  const names = hasGlob(path) ? await matching(context, path) : [path];
  const sources: Source[] = [];
  for (const name of names) {
    const files = await filesOf(context, name);
    if (files) sources.push({ name, files });
  }
  if (sources.length === 0)
    throw new Error(`${pattern} is not in the context, or .dockerignore leaves it out`);
  return sources;
}

async function matching({ root }: Context, pattern: string): Promise<string[]> {
  const wanted = pattern.split("/");
  const found: string[] = [];
  const walk = async (folder: string, depth: number): Promise<void> => {
    for (const entry of await sorted(join(root, folder))) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (matchesPath(wanted, path.split("/"))) found.push(path);
      else if (entry.isDirectory() && depth + 1 < wanted.length) await walk(path, depth + 1);
    }
  };
  await walk("", 0);
  return found;
}

/** A file, or a folder with all below it in order; undefined when it does not exist or is ignored. */
async function filesOf({ root, ignore }: Context, name: string): Promise<SourceFile[] | undefined> {
  const base = await realpath(root);
  const at = await realpath(join(root, name)).catch(() => undefined);
  if (at === undefined || (at !== base && !at.startsWith(`${base}/`))) return undefined;
  const path = at.slice(base.length + 1);
  const isIgnored = (below: string) => ignore.isIgnored(path === "" ? below : posix.join(path, below));
  const self = await sourceFile(at, "");
  const ignoredItself = path !== "" && ignore.isIgnored(path);
  if (self?.kind !== "folder") return self && !ignoredItself ? [self] : undefined;
  if (ignoredItself && !ignore.hasExceptions) return undefined;
  const files = [self];
  const walk = async (folder: string): Promise<void> => {
    for (const entry of await sorted(join(at, folder))) {
      const below = folder === "" ? entry.name : `${folder}/${entry.name}`;
      const ignored = isIgnored(below);
      const file = ignored ? undefined : await sourceFile(join(at, below), below);
      if (file) files.push(file);
      if (entry.isDirectory() && (!ignored || ignore.hasExceptions)) await walk(below);
    }
  };
  await walk("");
  return files;
}

/** All files below a folder, in order, and the folder itself. */
export async function filesBelow(root: string): Promise<SourceFile[]> {
  const all = { isIgnored: () => false, hasExceptions: false };
  return (await filesOf({ root, ignore: all }, "")) ?? [];
}

async function sorted(folder: string) {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries.sort((one, other) => (one.name < other.name ? -1 : 1));
}

async function sourceFile(at: string, path: string): Promise<SourceFile | undefined> {
  const stats = await lstat(at);
  const base = { path, mode: stats.mode & 0o777, size: 0, at };
  if (stats.isDirectory()) return { ...base, kind: "folder" };
  if (stats.isSymbolicLink()) return { ...base, kind: "link", mode: 0o777, target: await readlink(at) };
  return stats.isFile() ? { ...base, kind: "file", size: stats.size } : undefined;
}
