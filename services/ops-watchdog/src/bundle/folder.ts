// The folder of bundles. Files are the truth; what the database records follows them.

import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { WatchdogSettings } from "../config.ts";
import { findingOf, readFinding } from "./finding.ts";
import type { Manifest } from "./manifest.ts";
import { type BundleName, parseBundleName } from "./name.ts";
import { type Candidate, decideDeletions, type Keep } from "./retention.ts";
import { readManifest, sidecarOf } from "./verify.ts";

export type Found = BundleName & {
  path: string;
  sizeBytes: number;
  hasSidecar: boolean;
  manifest: Manifest | undefined;
  /** Why it cannot be used, as far as its beginning, its sidecar and its last verification tell. */
  problem: string | undefined;
};

/** Every bundle, newest first; none when there is no folder. */
export async function listBundles(dir: string): Promise<Found[]> {
  const names = await readdir(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const bundles = names.flatMap((name) => parseBundleName(name) ?? []);
  const found = await Promise.all(bundles.map((bundle) => inspect(dir, bundle, new Set(names))));
  return found
    .flatMap((one) => one ?? [])
    .sort((a, b) => b.takenAt.getTime() - a.takenAt.getTime() || (a.name < b.name ? 1 : -1));
}

/** Undefined when it was deleted meanwhile. */
async function inspect(
  dir: string,
  bundle: BundleName,
  names: ReadonlySet<string>,
): Promise<Found | undefined> {
  const path = join(dir, bundle.name);
  const hasSidecar = names.has(sidecarOf(bundle.name));
  const stats = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (!stats) return undefined;
  const { size } = stats;
  try {
    const manifest = await readManifest(path);
    const isOwn = manifest.name === bundle.name;
    const problem = isOwn ? undefined : `it is ${manifest.name} under another name`;
    const missing = hasSidecar ? undefined : "its .sha256 file is missing";
    const damage = (await readFinding(path))?.damage;
    return { ...bundle, path, sizeBytes: size, hasSidecar, manifest, problem: problem ?? missing ?? damage };
  } catch (error) {
    const problem = (error as Error).message;
    return { ...bundle, path, sizeBytes: size, hasSidecar, manifest: undefined, problem };
  }
}

export function keepOf(settings: WatchdogSettings): Keep {
  return {
    daily: settings.keep_daily,
    "pre-migrate": settings.keep_pre_migrate,
    "pre-restore": settings.keep_pre_restore,
    offsite: settings.keep_offsite,
    manual: Number.POSITIVE_INFINITY,
  };
}

/** Deletes what the rule names and nothing else; returns the names. The sidecar goes last, so that a half-done deletion is seen. */
export async function deleteSurplus(
  dir: string,
  about: {
    keep: Keep;
    now: Date;
    justVerified: string;
    inUse: readonly string[];
    /** Called before each step; tests stop the process there. */
    step?: (name: string) => void;
  },
): Promise<string[]> {
  const { step = () => undefined, ...rule } = about;
  const bundles = (await listBundles(dir)).map(
    ({ name, label, takenAt, problem }): Candidate => ({
      name,
      label,
      takenAt,
      isWhole: problem === undefined,
    }),
  );
  const gone = decideDeletions({ bundles, ...rule });
  for (const name of gone) {
    step("delete");
    await rm(join(dir, name), { force: true });
    step("delete-finding");
    await rm(join(dir, findingOf(name)), { force: true });
    step("delete-sidecar");
    await rm(join(dir, sidecarOf(name)), { force: true });
  }
  return gone;
}

const partial = /^\.db-\d{8}T\d{6}Z-[a-z-]{1,16}\.tar(\.verified\.\d{1,10})?\.partial$/;
const beside = /^(.{1,64})\.(sha256|verified)$/;

/** Removes what killed processes left: partial files, and digests and findings without their bundle. One process at a time. */
export async function sweepPartials(dir: string): Promise<void> {
  const names: string[] = await readdir(dir).catch(() => []);
  for (const name of names) {
    const bundle = beside.exec(name)?.[1];
    const isAlone = bundle !== undefined && parseBundleName(bundle) && !names.includes(bundle);
    if (partial.test(name) || isAlone) await rm(join(dir, name), { force: true });
  }
}
