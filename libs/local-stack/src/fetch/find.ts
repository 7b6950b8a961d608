import { accessSync, chmodSync, constants, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { errorText, StackError } from "../error.ts";
import { type Arch, type FetchedProgram, findArch, readVersion } from "./program.ts";
import { poolRoute, type Route, releaseRoute, signedIndexRoute } from "./routes.ts";

export type FindOptions = {
  /** The variable of the program, `PATH`, `HOME` and `XDG_CACHE_HOME` are read from it. */
  env: NodeJS.ProcessEnv;
  /** Where a fetched program is kept; the first folder that can be written is taken. */
  cacheDirs: readonly string[];
  /** Told in one line when something slow begins. */
  progress: (line: string) => void;
  /** For tests: the ways to fetch it, tried in this order. */
  routes?: readonly Route[];
};

// A route that hangs must not hold up the next one; one that fails makes room at once.
const staggerMs = 3_000;

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function findUsable(program: FetchedProgram, folders: readonly string[]): Promise<string | undefined> {
  for (const folder of folders) {
    const path = join(folder, program.name);
    if (!isExecutable(path)) continue;
    const version = await readVersion(program, path);
    if (version !== undefined && program.isSupported(version)) return path;
  }
  return undefined;
}

/** Folders for fetched programs that survive `npm ci`: the person's cache, then one in the checkout. */
export function defaultCacheDirs(env: NodeJS.ProcessEnv, repo: string): string[] {
  const home = env["XDG_CACHE_HOME"] ?? (env["HOME"] ? join(env["HOME"], ".cache") : undefined);
  return [...(home ? [join(home, "svc")] : []), join(repo, ".cache", "svc")];
}

function firstWritable(name: string, folders: readonly string[]): string {
  for (const folder of folders) {
    try {
      mkdirSync(folder, { recursive: true });
      accessSync(folder, constants.W_OK);
      return folder;
    } catch {
      // The next folder may do; the error below names them all.
    }
  }
  throw new StackError(`no folder for ${name} is writable (${folders.join(", ")}); set XDG_CACHE_HOME`);
}

type Place = { program: FetchedProgram; cacheDir: string; arch: Arch };

async function fetchBy(route: Route, { program, cacheDir, arch }: Place, signal: AbortSignal) {
  const dir = mkdtempSync(join(cacheDir, ".fetch-"));
  try {
    const binary = await route.fetch({ dir, arch, program }, signal);
    const version = await readVersion(program, binary);
    if (version === undefined) throw new Error("delivered a program that does not run here");
    if (!program.isSupported(version)) throw new Error(`delivered version ${version}`);
    chmodSync(binary, 0o755);
    const target = join(cacheDir, program.name);
    signal.throwIfAborted();
    renameSync(binary, target);
    return target;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Starts a route when the one before it has failed, or early when that is slow; the first success wins. */
async function fetchFirst(routes: readonly Route[], place: Place): Promise<string> {
  const won = new AbortController();
  const reasons: string[] = [];
  const attempts: Promise<string>[] = [];
  for (const route of routes) {
    const before = attempts.at(-1);
    const patienceMs = staggerMs * attempts.length;
    const attempt = (async () => {
      if (before)
        await Promise.race([hasFailed(before), sleep(patienceMs, undefined, { signal: won.signal })]);
      return fetchBy(route, place, won.signal);
    })();
    attempt.catch((error: unknown) => reasons.push(`${route.name}: ${errorText(error)}`));
    attempts.push(attempt);
  }
  try {
    return await Promise.any(attempts);
  } catch {
    const { supported, otherwise } = place.program;
    throw new StackError(
      `no ${supported} was found on PATH, and none could be fetched (${reasons.join("; ")}); ${otherwise}`,
    );
  } finally {
    won.abort();
    await Promise.allSettled(attempts);
  }
}

/** Resolves when the attempt fails; stays open while it may still succeed. */
function hasFailed(attempt: Promise<string>): Promise<void> {
  return new Promise((resolve) => void attempt.catch(() => resolve()));
}

/** Checks the binary that somebody named explicitly; there is no silent way around a wrong one. */
async function requireNamed(program: FetchedProgram, binary: string): Promise<string> {
  const { name, variable, isSupported, supported } = program;
  const version = await readVersion(program, binary);
  if (version === undefined) {
    throw new StackError(
      `${variable} names ${binary}, which is not a ${name} that runs here; correct or unset the variable`,
    );
  }
  if (isSupported(version)) return binary;
  throw new StackError(
    `${variable} names ${name} ${version}, and svc needs ${supported}; name a newer one or unset it`,
  );
}

/**
 * Path of a program that is supported: the one that its variable names, else PATH, else the cache, else fetched once
 * into the cache. Every file fetched is checked against a pinned digest or a signed index. Works without root; starters
 * at the same time do not collide. Throws a `StackError` that says what to install or set.
 */
export async function findProgram(program: FetchedProgram, options: FindOptions): Promise<string> {
  const named = options.env[program.variable];
  if (named) return requireNamed(program, named);
  const onPath = (options.env["PATH"] ?? "").split(delimiter).filter((folder) => folder.startsWith("/"));
  const found = (await findUsable(program, onPath)) ?? (await findUsable(program, options.cacheDirs));
  if (found) return found;
  const arch = findArch();
  if (!arch) throw new StackError(`there is no ${program.name} for ${process.arch}; ${program.otherwise}`);
  const cacheDir = firstWritable(program.name, options.cacheDirs);
  options.progress(`fetching ${program.name} (${program.size}, once) ...`);
  return fetchFirst(options.routes ?? [releaseRoute, poolRoute, signedIndexRoute], {
    program,
    cacheDir,
    arch,
  });
}
