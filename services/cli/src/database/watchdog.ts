// Commands on bundles: ops-watchdog owns them, so its own program is started for them.

import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { CommandError } from "../output.ts";

const program = resolve(import.meta.dirname, "../../../ops-watchdog/src/host/main.ts");

/** Runs the program of ops-watchdog with one command; throws with its last line when it fails. */
export async function askWatchdog<T>(
  env: NodeJS.ProcessEnv,
  command: { do: string; [option: string]: unknown },
  /** Called with each line that the program writes to stderr meanwhile. */
  onLine: (line: string) => void = () => undefined,
): Promise<T> {
  const child = spawn(process.execPath, [program], { env, stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.end(JSON.stringify(command));
  createInterface({ input: child.stderr }).on("line", onLine);
  const [out, error, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((done) => child.once("close", done)),
  ]);
  if (code !== 0)
    throw new CommandError(error.trim().split("\n").at(-1) || "the program of ops-watchdog was killed");
  return JSON.parse(out) as T;
}
