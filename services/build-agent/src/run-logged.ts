import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { lineOf, StepFailure } from "./failure.ts";
import type { StepContext } from "./step.ts";

type Program = { command: string; args: string[]; env: Record<string, string>; cwd: string };

/** Runs a program whose lines are the build's log; its last line is the reason when it fails. */
export async function runLogged(
  { command, args, env, cwd }: Program,
  { say, signal }: Pick<StepContext, "say" | "signal">,
): Promise<void> {
  const child = spawn(command, args, { env, cwd, signal, stdio: ["ignore", "pipe", "pipe"] });
  let last = "";
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on("line", (line) => {
      if (line.trim() !== "") last = line;
      say(line);
    });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  }).catch((cause: Error) => {
    signal.throwIfAborted();
    throw new StepFailure(`${command} does not run: ${cause.message}`, { cause });
  });
  if (code !== 0) throw new StepFailure(lineOf(last) || `${command} ended with ${code}`);
}
