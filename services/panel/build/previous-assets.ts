// Assets of the build before stay for a day: a page that was opened before an update still loads its later chunks.

import { copyFileSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Manifest } from "./manifest.ts";

const keepMs = 24 * 60 * 60_000;

/**
 * Copies the own assets of the newest other build below `builds` into `folder`; returns until when each is served, by
 * file name. What that build had kept itself is left behind, or many builds in one day would pile up.
 */
export function keepPreviousAssets(builds: string, folder: string, now: number): Record<string, number> {
  const previous = newestBuild(builds);
  if (!previous) return {};
  const kept: Record<string, number> = {};
  const own = new Set(readdirSync(join(folder, "assets")));
  for (const file of readdirSync(join(previous.folder, "assets"))) {
    const asset = file.replace(/\.(gz|br)$/, "");
    if (asset in previous.manifest.previous || own.has(asset)) continue;
    copyFileSync(join(previous.folder, "assets", file), join(folder, "assets", file));
    kept[asset] = now + keepMs;
  }
  return kept;
}

function newestBuild(builds: string): { folder: string; manifest: Manifest } | undefined {
  if (!existsSync(builds)) return undefined;
  const found = readdirSync(builds)
    .map((name) => join(builds, name))
    .filter((folder) => existsSync(join(folder, "build.json")))
    .map((folder) => ({
      folder,
      manifest: JSON.parse(readFileSync(join(folder, "build.json"), "utf8")) as Manifest,
    }));
  return found.sort((a, b) => b.manifest.built_at - a.manifest.built_at)[0];
}
