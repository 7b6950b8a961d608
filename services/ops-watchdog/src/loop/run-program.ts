import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import type { Command } from "../host/command.ts";

/** Beside the bundled service lies the bundled program, which loads in a fifth of the time (docs/adr/0022). */
const bundledProgram = join(dirname(process.argv[1] ?? ""), "ops-watchdog-host.mjs");
const hostProgram = existsSync(bundledProgram)
  ? bundledProgram
  : resolve(import.meta.dirname, "../host/main.ts");

/**
 * Flags of the program: it shares memory limits with nobody, and a pass leaves as much garbage as it keeps. Young objects
 * get 2 MiB, old ones may grow by half before they are looked at.
 */
export const programFlags: readonly string[] = ["--max-semi-space-size=2", "--heap-growing-percent=50"];
/**
 * Memory that is freed goes back to the system at once: by default each thread keeps an arena of its own, and every large
 * buffer that is freed raises the size (up to 32 MiB) below which the allocator keeps buffers.
 */
export const programMemory: NodeJS.ProcessEnv = {
  MALLOC_ARENA_MAX: "2",
  MALLOC_MMAP_THRESHOLD_: "131072",
  MALLOC_TRIM_THRESHOLD_: "131072",
};

export type RunProgram = (command: Command, signal: AbortSignal) => Promise<unknown>;

/** Runs one command in a process of its own, as `svc db` does, so that its memory goes with it. */
export function createRunProgram(about: {
  configFile: string | undefined;
  overrides: readonly string[];
  /** In place of the program of the host, for tests. */
  program?: string;
}): RunProgram {
  return async (command, signal) => {
    const env = {
      ...programMemory,
      // biome-ignore lint/style/noProcessEnv: the program has the database, NATS and the cluster of this service
      ...process.env,
      SVC_SET: about.overrides.join("\n"),
      ...(about.configFile !== undefined && { SVC_CONFIG: about.configFile }),
    };
    const child = spawn(process.execPath, [...programFlags, about.program ?? hostProgram], {
      env,
      stdio: ["pipe", "pipe", "pipe"],
      signal,
    });
    child.stdin.end(JSON.stringify(command));
    const [out, error, code] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      new Promise<number | null>((done, fail) => child.once("close", done).once("error", fail)),
    ]);
    if (code !== 0) throw new Error(error.trim().split("\n").at(-1) || `it ended with ${code ?? "a signal"}`);
    return JSON.parse(out);
  };
}
