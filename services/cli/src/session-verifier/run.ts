// The session verifier is identity's; its own small program is started, and lives and ends with this one.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { callerDir } from "../config.ts";

const program = resolve(import.meta.dirname, "../../../identity/src/standalone-verifier/main.ts");

export type NanoOptions = { config?: string; listen: string; set?: string[] };

/** Runs until it is told to end; the exit code is the program's own. */
export async function runNano({ config, listen, set = [] }: NanoOptions): Promise<void> {
  const file = config === undefined ? [] : ["--config", resolve(callerDir, config)];
  const overrides = set.flatMap((text) => ["--set", text]);
  const argv = [program, "--listen", listen, ...file, ...overrides];
  const child = spawn(process.execPath, argv, { stdio: "inherit" });
  const pass = (signal: NodeJS.Signals) => void child.kill(signal);
  const signals = ["SIGTERM", "SIGINT"] as const;
  for (const signal of signals) process.on(signal, pass);
  const [code] = (await once(child, "exit")) as [number | null];
  for (const signal of signals) process.removeListener(signal, pass);
  process.exitCode = code ?? 1;
}
