import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { isCurrent } from "./manifest.ts";

/** Link to the latest build, in the folder of all builds. */
export const currentLink = "current";

/** Folder of all builds of a checkout; tests have one of their own. */
export function buildsFolder(repo: string, folderName = "programs"): string {
  return join(repo, "node_modules", ".cache", folderName);
}

/** Folder of the latest build, whether or not the sources have changed since; undefined when there is none. */
export function findLatestBuild(repo: string, folderName?: string): string | undefined {
  const link = join(buildsFolder(repo, folderName), currentLink);
  return existsSync(link) ? realpathSync(link) : undefined;
}

/** Folder of a build of the sources as they are now; undefined when they have to be bundled first. */
export function findCurrentBuild(repo: string, folderName?: string): string | undefined {
  const folder = findLatestBuild(repo, folderName);
  return folder !== undefined && isCurrent(repo, folder) ? folder : undefined;
}
