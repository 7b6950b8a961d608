import { accessSync, chmodSync, constants, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isSupportedNats, supportedNats } from "@svc/proto";
import { errorText, StackError } from "../error.ts";
import { type NatsArch, natsArch } from "./pins.ts";
import { poolRoute, type Route, releaseRoute, signedIndexRoute } from "./routes.ts";
import { readNatsVersion, requireNats } from "./version.ts";

type FindNatsOptions = {
  /** `SVC_NATS_SERVER`, `PATH`, `HOME` and `XDG_CACHE_HOME` are read from it. */
  env: NodeJS.ProcessEnv;
  /** Where a fetched server is kept; the first folder that can be written is taken. */
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

async function isUsable(path: string): Promise<boolean> {
  if (!isExecutable(path)) return false;
  const version = await readNatsVersion(path);
  return version !== undefined && isSupportedNats(version);
}

async function findUsable(folders: readonly string[]): Promise<string | undefined> {
  for (const folder of folders) {
    const path = join(folder, "nats-server");
    if (await isUsable(path)) return path;
  }
  return undefined;
}

/** Folders for fetched programs that survive `npm ci`: the person's cache, then one in the checkout. */
export function defaultCacheDirs(env: NodeJS.ProcessEnv, repo: string): string[] {
  const home = env["XDG_CACHE_HOME"] ?? (env["HOME"] ? join(env["HOME"], ".cache") : undefined);
  return [...(home ? [join(home, "svc")] : []), join(repo, ".cache", "svc")];
}

function firstWritable(folders: readonly string[]): string {
  for (const folder of folders) {
    try {
      mkdirSync(folder, { recursive: true });
      accessSync(folder, constants.W_OK);
      return folder;
    } catch {
      // The next folder may do; the error below names them all.
    }
  }
  throw new StackError(`no folder for nats-server is writable (${folders.join(", ")}); set XDG_CACHE_HOME`);
}

async function fetchBy(route: Route, place: { cacheDir: string; arch: NatsArch }, signal: AbortSignal) {
  const dir = mkdtempSync(join(place.cacheDir, ".fetch-"));
  try {
    const binary = await route.fetch({ dir, arch: place.arch }, signal);
    const version = await readNatsVersion(binary);
    if (version === undefined) throw new Error("delivered a program that does not run here");
    if (!isSupportedNats(version)) throw new Error(`delivered version ${version}`);
    chmodSync(binary, 0o755);
    const target = join(place.cacheDir, "nats-server");
    signal.throwIfAborted();
    renameSync(binary, target);
    return target;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Starts a route when the one before it has failed, or early when that is slow; the first success wins. */
async function fetchFirst(
  routes: readonly Route[],
  place: { cacheDir: string; arch: NatsArch },
): Promise<string> {
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
    throw new StackError(
      `no ${supportedNats} was found on PATH, and none could be fetched (${reasons.join("; ")}); ` +
        "install one, name it with SVC_NATS_SERVER, or set SVC_NATS_URL to a server of yours",
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

/**
 * Path of a nats-server that `isSupportedNats`: `SVC_NATS_SERVER`, else PATH, else the cache, else fetched
 * once into the cache. Every file fetched is checked against a pinned digest or a signed index. Works without root;
 * starters at the same time do not collide. Throws a `StackError` that says what to install or set.
 */
export async function findNatsServer(options: FindNatsOptions): Promise<string> {
  const named = options.env["SVC_NATS_SERVER"];
  if (named) return requireNats(named);
  const onPath = (options.env["PATH"] ?? "").split(delimiter).filter((folder) => folder.startsWith("/"));
  const found = (await findUsable(onPath)) ?? (await findUsable(options.cacheDirs));
  if (found) return found;
  const arch = natsArch();
  if (!arch)
    throw new StackError(
      `there is no nats-server for ${process.arch}; set SVC_NATS_URL to a server of yours`,
    );
  const cacheDir = firstWritable(options.cacheDirs);
  options.progress("fetching nats-server (5 MB, once) ...");
  return fetchFirst(options.routes ?? [releaseRoute, poolRoute, signedIndexRoute], { cacheDir, arch });
}
