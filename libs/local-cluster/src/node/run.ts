import { spawn } from "node:child_process";
import { existsSync, readFileSync, statSync, watch } from "node:fs";
import { mkdir, open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ContainerProcess } from "./processes.ts";
import { isAlive, killGroup, RUN_VARIABLE, signal } from "./processes.ts";

const SHIM = fileURLToPath(new URL("./container.sh", import.meta.url));
const RECHECK_MS = 250;
/** What Kubernetes reports for a container that was killed with SIGKILL. */
const KILLED = 137;

export type RunEnd = { exitCode: number; finishedAtMs: number };

/** One run of a container: from the start of its process to its exit code. */
export type Run = {
  dir: string;
  startedAtMs: number;
  ended: Promise<RunEnd>;
  /** The end, when the run had already ended when it was found. */
  past: RunEnd | undefined;
  /** Sends a signal to the program itself, not to its children; false when there is no program (yet). */
  signal(name: NodeJS.Signals): boolean;
  /** Kills all processes of the container. */
  kill(): void;
};

type Launch = { dir: string; argv: string[]; env: Record<string, string>; cwd: string };

function readEnd(dir: string): RunEnd | undefined {
  try {
    const text = readFileSync(join(dir, "exit"), "utf8").trim();
    if (!/^\d+$/.test(text)) return undefined;
    return { exitCode: Number(text), finishedAtMs: statSync(join(dir, "exit")).mtimeMs };
  } catch {
    return undefined;
  }
}

function programPid(dir: string): number | undefined {
  try {
    const pid = Number(readFileSync(join(dir, "pid"), "utf8").trim());
    return Number.isInteger(pid) && pid > 1 && isAlive(pid) ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** Resolves when the shim of an adopted run is gone: noticed by its exit file, or at the next check. */
function awaitShim(dir: string, shim: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const look = () => {
    if (!isAlive(shim)) resolve();
  };
  const watcher = watch(dir, look);
  watcher.on("error", () => undefined);
  const timer = setInterval(look, RECHECK_MS);
  look();
  return promise.finally(() => {
    watcher.close();
    clearInterval(timer);
  });
}

function follow(dir: string, shim: number, gone: Promise<void>): Run {
  const startedAtMs = statSync(join(dir, "started")).mtimeMs;
  const ended = gone.then(async (): Promise<RunEnd> => {
    await killGroup(shim);
    return readEnd(dir) ?? { exitCode: KILLED, finishedAtMs: Date.now() };
  });
  return {
    dir,
    startedAtMs,
    ended,
    past: undefined,
    signal: (name) => {
      const pid = programPid(dir);
      return pid !== undefined && signal(pid, name);
    },
    kill: () => void killGroup(shim),
  };
}

/** Starts a container in a session of its own, so that it outlives this process; its output goes straight to a file. */
export async function launch({ dir, argv, env, cwd }: Launch): Promise<Run> {
  await mkdir(dir, { recursive: true });
  const log = await open(join(dir, "log"), "a");
  try {
    await writeFile(join(dir, "started"), "");
    const child = spawn("/bin/sh", [SHIM, dir, ...argv], {
      cwd,
      env: { ...env, [RUN_VARIABLE]: dir },
      detached: true,
      stdio: ["ignore", log.fd, log.fd],
    });
    const exited = Promise.withResolvers<void>();
    child.once("exit", () => exited.resolve());
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", reject);
    });
    child.unref();
    return follow(dir, child.pid ?? 0, exited.promise);
  } finally {
    await log.close();
  }
}

/** Takes over a run that an earlier process started; undefined when nothing was ever started in the directory. */
export function adopt(dir: string, processes: ContainerProcess[]): Run | undefined {
  if (!existsSync(join(dir, "started"))) return undefined;
  const shim = processes.find((one) => one.isShim && one.runDir === dir);
  if (shim !== undefined) return follow(dir, shim.pid, awaitShim(dir, shim.pid));
  const past = readEnd(dir) ?? { exitCode: KILLED, finishedAtMs: Date.now() };
  const startedAtMs = statSync(join(dir, "started")).mtimeMs;
  return { dir, startedAtMs, ended: Promise.resolve(past), past, signal: () => false, kill: () => undefined };
}
