import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { isCurrent } from "./manifest.ts";

/** Link to the latest build, in the folder of all builds. */
export const currentLink = "current";

/** Folder of all builds of a checkout. */
export function buildsFolder(repo: string): string {
  return join(repo, "node_modules", ".cache", "programs");
}

/** Folder of the latest build, whether or not the sources have changed since; undefined when there is none. */
export function findLatestBuild(repo: string): string | undefined {
  const link = join(buildsFolder(repo), currentLink);
  return existsSync(link) ? realpathSync(link) : undefined;
}

/** Folder of a build of the sources as they are now; undefined when they have to be bundled first. */
export function findCurrentBuild(repo: string): string | undefined {
  const folder = findLatestBuild(repo);
  return folder !== undefined && isCurrent(repo, folder) ? folder : undefined;
}
