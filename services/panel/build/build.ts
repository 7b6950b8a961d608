// Builds the panel into node_modules/.cache/panel/<digest>/: beside it first, then renamed, so that the folder is
// always whole. The same digest leaves nothing to do.

import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { type Route, routes } from "../src/app/routes.ts";
import { digestInputs } from "./digest.ts";
import type { Manifest } from "./manifest.ts";

const keptBuilds = 4;
/** A build that takes longer has died. */
const abandonedMs = 10 * 60_000;

/** Folder of the built panel; builds it when it is not there. */
export async function ensureBuilt(repo: string): Promise<string> {
  const builds = join(repo, "node_modules", ".cache", "panel");
  const digest = digestInputs(repo);
  const folder = join(builds, digest);
  if (existsSync(join(folder, "build.json"))) return folder;
  mkdirSync(builds, { recursive: true });
  removeOldBuilds(builds);
  const beside = join(builds, `.${digest}.${process.pid}`);
  try {
    await buildInto(beside, builds);
    moveInPlace(beside, folder);
  } finally {
    rmSync(beside, { recursive: true, force: true });
  }
  return folder;
}

/** Builds into a folder, without a cache. */
export async function buildInto(folder: string, builds?: string): Promise<void> {
  // Loaded only when there is something to build.
  const [{ build }, { compressAssets }, { viteConfig }, { keepPreviousAssets }] = await Promise.all([
    import("vite"),
    import("./compress.ts"),
    import("./vite-config.ts"),
    import("./previous-assets.ts"),
  ]);
  const config = viteConfig();
  await build({ ...config, build: { ...config.build, outDir: folder, emptyOutDir: true } });
  await compressAssets(folder);
  const now = Date.now();
  const manifest: Manifest = {
    built_at: now,
    routes: (routes as readonly Route[]).map(({ path, host }) => ({
      path,
      ...(host !== undefined && { host }),
    })),
    previous: builds === undefined ? {} : keepPreviousAssets(builds, folder, now),
  };
  writeFileSync(join(folder, "build.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** Points a link at a folder, in one step. */
export function pointLink(link: string, folder: string): void {
  const beside = `${link}.${process.pid}`;
  mkdirSync(dirname(link), { recursive: true });
  rmSync(beside, { force: true });
  symlinkSync(folder, beside);
  renameSync(beside, link);
}

function moveInPlace(beside: string, folder: string): void {
  try {
    renameSync(beside, folder);
  } catch (error) {
    // Another process has built the same.
    if (!existsSync(join(folder, "build.json"))) throw error;
  }
}

function removeOldBuilds(builds: string): void {
  const entries = readdirSync(builds).map((name) => {
    const path = join(builds, name);
    return { path, isPartial: name.startsWith("."), at: statSync(path).mtimeMs };
  });
  const abandoned = entries.filter(({ isPartial, at }) => isPartial && at < Date.now() - abandonedMs);
  const finished = entries.filter(({ isPartial }) => !isPartial).sort((a, b) => b.at - a.at);
  for (const { path } of [...abandoned, ...finished.slice(keptBuilds)])
    rmSync(path, { recursive: true, force: true });
}
