// Commands on bundles and off-site copies: ops-watchdog owns them, so its own program is started for them.

import { resolve } from "node:path";
import { runHostProgram } from "@svc/config";

const program = resolve(import.meta.dirname, "../../../ops-watchdog/src/host/main.ts");

/** Runs the program of ops-watchdog with one command; throws with its last line when it fails. */
export async function askWatchdog<T>(
  env: NodeJS.ProcessEnv,
  command: { do: string; [option: string]: unknown },
  /** Called with each line that the program writes to stderr meanwhile. */
  onLine?: (line: string) => void,
): Promise<T> {
  return (await runHostProgram(program, command, { env, onLine })) as T;
}
