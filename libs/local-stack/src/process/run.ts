import { spawn } from "node:child_process";

type Finished = { code: number | null; signal: NodeJS.Signals | null; output: string };

type RunOptions = {
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  uid?: number;
  gid?: number;
  signal?: AbortSignal;
};

/**
 * Runs a command to its end and keeps stdout and stderr together (the last 64 KiB). A command that cannot be
 * started ends with code 127 and the reason as its output, so callers have one case to look at.
 */
export function runCommand(
  command: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Finished> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    const keep = (chunk: string) => {
      output = (output + chunk).slice(-65_536);
    };
    child.stdout.setEncoding("utf8").on("data", keep);
    child.stderr.setEncoding("utf8").on("data", keep);
    child.once("error", (error) => resolve({ code: 127, signal: null, output: error.message }));
    child.once("close", (code, signal) => resolve({ code, signal, output: output.trim() }));
  });
}
