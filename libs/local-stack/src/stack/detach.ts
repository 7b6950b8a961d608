import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { StackError } from "../error.ts";
import { readFrom } from "../process/launch.ts";
import { prepareDataDir } from "./guard.ts";
import { layout } from "./layout.ts";
import { findSupervisor } from "./lock.ts";
import { announcement, findStackFile } from "./stack-file.ts";

type DetachOptions = {
  data: string;
  /** The data folder as printed in suggested commands; absent for the default one. */
  hintData?: string;
  /** The same command without `--detach`, ready to run: program and arguments. */
  command: string;
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  /** Progress of the supervisor, line by line. */
  say: (line: string) => void;
  announce: (text: string) => void;
};

const pollMs = 25;

/** Emits whole lines that were appended to a file since the last call. */
function followLines(path: string): (onLine: (line: string) => void) => void {
  let offset = statSync(path).size;
  let rest = "";
  return (onLine) => {
    const chunk = readFrom(path, offset);
    offset += chunk.length;
    const lines = (rest + chunk.toString("utf8")).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(line);
  };
}

/**
 * Starts the supervisor in a session of its own with its output in `logs/supervisor.log`, and returns once the stack
 * is ready. Throws a `StackError` when the supervisor gives up, after it has printed the reason.
 */
export async function startDetached(options: DetachOptions): Promise<void> {
  prepareDataDir(options.data);
  const paths = layout(options.data);
  mkdirSync(paths.logs, { recursive: true, mode: 0o700 });
  const log = openSync(paths.supervisorLog, "a", 0o600);
  const child = spawn(options.command, options.args, {
    env: options.env,
    detached: true,
    stdio: ["ignore", log, log],
  });
  const ended = new Promise<number>((resolve) => {
    child.once("error", () => resolve(127));
    child.once("exit", (code) => resolve(code ?? 1));
  });
  const follow = followLines(paths.supervisorLog);
  closeSync(log);
  child.unref();
  let code: number | undefined;
  void ended.then((value) => {
    code = value;
  });
  for (;;) {
    await sleep(pollMs);
    follow(options.say);
    const isOurs = findSupervisor(paths.supervisorFile)?.pid === child.pid;
    const stack = code === 0 || isOurs ? findStackFile(paths.stackFile) : undefined;
    if (stack) return options.announce(announcement(stack, paths.stackFile, options.hintData));
    if (code !== undefined) {
      throw new StackError(`the stack did not start; its log is ${paths.supervisorLog}`);
    }
  }
}
