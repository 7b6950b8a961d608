// Plugins and mods of a world with their digests, and what the world runs as far as its files say.

import { createHash } from "node:crypto";
import type { PluginLoader, PluginRecords } from "@svc/proto/world-task";
import { isWorldFault } from "../fault.ts";
import type { Folder } from "../path/folder.ts";
import { readRecords } from "./record.ts";

export const pluginFolders = ["plugins", "mods"] as const;

type Listed = {
  records: PluginRecords;
  files: { path: string; size: number; sha256: string }[];
  loader: PluginLoader | null;
  game_version: string | null;
  truncated: boolean;
};

/** The first `most` jars. */
export async function listPlugins(
  world: Folder,
  { most, signal }: { most: number; signal: AbortSignal },
): Promise<Listed> {
  const files: Listed["files"] = [];
  let truncated = false;
  for (const name of pluginFolders) {
    await using folder = await findFolder(world, name);
    for (const entry of (await folder?.list()) ?? []) {
      if (!folder || entry.kind !== "file" || !/^[^\\\p{Cc}]{1,150}\.jar$/iu.test(entry.name)) continue;
      if (!entry.name.isWellFormed()) continue;
      signal.throwIfAborted();
      if (files.length === most) {
        truncated = true;
        break;
      }
      const about = await digestFile(folder, entry.name);
      if (about) files.push({ path: `${name}/${entry.name}`, ...about });
    }
  }
  return { records: await readRecords(world), files, truncated, ...(await guess(world)) };
}

/** Undefined where it cannot be read. */
export async function digestFile(
  folder: Folder,
  name: string,
): Promise<{ size: number; sha256: string } | undefined> {
  try {
    await using file = await folder.openFile(name);
    const hash = createHash("sha256");
    let size = 0;
    for await (const chunk of file.createReadStream({ autoClose: false, highWaterMark: 1 << 20 })) {
      hash.update(chunk as Buffer);
      size += (chunk as Buffer).length;
    }
    return { size, sha256: hash.digest("hex") };
  } catch (error) {
    if (isWorldFault(error) || (error as NodeJS.ErrnoException).code === "EACCES") return undefined;
    throw error;
  }
}

const signs: readonly (readonly [loader: PluginLoader, names: readonly string[]])[] = [
  ["purpur", ["purpur.yml"]],
  ["paper", ["config", "paper-global.yml"]],
  ["quilt", [".quilt"]],
  ["fabric", [".fabric"]],
  ["neoforge", ["libraries", "net", "neoforged"]],
  ["forge", ["libraries", "net", "minecraftforge"]],
  ["spigot", ["spigot.yml"]],
];

async function guess(world: Folder): Promise<Pick<Listed, "loader" | "game_version">> {
  let loader: PluginLoader | null = null;
  for (const [one, names] of signs) {
    if (!(await exists(world, names))) continue;
    loader = one;
    break;
  }
  return { loader, game_version: await readGameVersion(world) };
}

async function exists(world: Folder, names: readonly string[]): Promise<boolean> {
  try {
    await using folder = await world.descend(names.slice(0, -1));
    return (await folder.find(names.at(-1) ?? "")) !== undefined;
  } catch {
    return false;
  }
}

/** Paper and its kin write there what they run. */
async function readGameVersion(world: Folder): Promise<string | null> {
  try {
    await using file = await world.openFile("version_history.json");
    if ((await file.stat()).size > 65_536) return null;
    return /\(MC: ([0-9A-Za-z._-]{1,32})\)/.exec(await file.readFile("utf8"))?.[1] ?? null;
  } catch {
    return null;
  }
}

async function findFolder(world: Folder, name: string): Promise<Folder | undefined> {
  return world.enter(name).catch((error: unknown) => {
    if (isWorldFault(error, "not_found", "bad_path")) return undefined;
    throw error;
  });
}
