// The session verifier belongs to identity; its own program runs as a child of this one.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { callerDir } from "../config.ts";

const program = resolve(import.meta.dirname, "../../../identity/src/standalone-verifier/main.ts");

export type VerifierOptions = { config?: string; listen: string; set?: string[] };

/** Runs until it is stopped; the exit code is that of the program. */
export async function runVerifier({ config, listen, set = [] }: VerifierOptions): Promise<void> {
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
