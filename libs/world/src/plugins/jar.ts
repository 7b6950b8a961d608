// Whether a file is a plugin or a mod: a zip that names what its loader looks for.

import type { FileHandle } from "node:fs/promises";
import { isWorldFault, WorldFault } from "../fault.ts";
import { isSmall, isTiny, readSmall, readTiny } from "../zip/content.ts";
import { findZipEntries } from "../zip/read.ts";

const descriptors: Readonly<Record<string, readonly string[]>> = {
  plugins: ["plugin.yml", "paper-plugin.yml"],
  mods: ["fabric.mod.json", "quilt.mod.json", "META-INF/mods.toml", "META-INF/neoforge.mods.toml"],
};

/** Throws `archive_invalid` for a file of `plugins` or `mods` that no loader would take. */
export async function assertJar(file: FileHandle, path: string): Promise<void> {
  const names = descriptors[path.split("/")[0] ?? ""] ?? [];
  const entries = await findZipEntries(file, new Set(names)).catch((error: unknown) => {
    if (!isWorldFault(error)) throw error;
    throw new WorldFault("archive_invalid", `${path} is no jar that can be read.`, { entry: path });
  });
  for (const entry of entries) {
    if (!isSmall(entry) && !isTiny(entry)) continue;
    const content = isTiny(entry) ? readTiny(file, entry) : await readSmall(file, entry);
    if (content.length > 0) return;
  }
  throw new WorldFault(
    "archive_invalid",
    `${path} has none of ${names.join(", ")}, so nothing would load it.`,
    {
      entry: path,
    },
  );
}
