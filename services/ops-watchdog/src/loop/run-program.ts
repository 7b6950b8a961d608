import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { runHostProgram } from "@svc/config";
import { environment } from "../config.ts";
import type { Command } from "../host/command.ts";

/** Beside the bundled service lies the bundled program, which loads in a fifth of the time (docs/adr/0022). */
const bundledProgram = join(dirname(process.argv[1] ?? ""), "ops-watchdog-host.mjs");
const hostProgram = existsSync(bundledProgram)
  ? bundledProgram
  : resolve(import.meta.dirname, "../host/main.ts");

export type RunProgram = (command: Command, signal: AbortSignal) => Promise<unknown>;

/** Runs one command in a process of its own, as `svc db` does, so that its memory goes with it. */
export function createRunProgram(about: {
  configFile: string | undefined;
  overrides: readonly string[];
  /** In place of the program of the host, for tests. */
  program?: string;
}): RunProgram {
  const program = about.program ?? hostProgram;
  return (command, signal) => {
    // A pass would keep the code cache in memory to start 0.2 s sooner.
    const { NODE_COMPILE_CACHE: _, ...own } = environment();
    const env = {
      // The program has the database, NATS and the cluster of this service.
      ...own,
      SVC_SET: about.overrides.join("\n"),
      ...(about.configFile !== undefined && { SVC_CONFIG: about.configFile }),
    };
    return runHostProgram(program, command, { env, signal });
  };
}
