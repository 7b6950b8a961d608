// Runs the agent as a Job does, in a process of its own.

import { spawn } from "node:child_process";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testProgram } from "@svc/config/test-program";
import {
  Progress,
  progressMark,
  resultMark,
  type StagedParts,
  type Task,
  type TaskDone,
  TaskResult,
} from "@svc/proto/world-task";

type Run = {
  code: number | null;
  signal: NodeJS.Signals | null;
  result: TaskResult | undefined;
  progress: Progress[];
  stderr: string;
};

type RunOptions = {
  token?: string;
  content?: Buffer | string;
  parts?: StagedParts;
  /** Sends SIGTERM with the first line of progress. */
  stopAtProgress?: boolean;
  /** Another entry than main.ts. */
  entry?: string;
  env?: Record<string, string>;
  /** The user it runs as. */
  uid?: number;
};

const main = testProgram(join(import.meta.dirname, "../main.ts"));
const pick = (env: NodeJS.ProcessEnv, ...names: string[]) =>
  Object.fromEntries(names.map((name) => [name, env[name]]));

/** `base` holds the folders `world` and `store`. */
export async function agent(base: string, task: Task, options: RunOptions = {}): Promise<Run> {
  const secret = await mkdtemp(join(tmpdir(), "svc-secret-"));
  await writeFile(join(secret, "token"), options.token ?? "");
  if (options.content !== undefined) await writeFile(join(secret, "content"), options.content);
  if (options.parts) await writeFile(join(secret, "parts"), JSON.stringify(options.parts));
  await chmod(secret, 0o755);
  const child = spawn(
    process.execPath,
    [
      options.entry ?? main,
      `--world=${base}/world`,
      `--archive=${base}/store`,
      `--secret=${secret}`,
      `--tmp=${base}`,
    ],
    {
      stdio: ["ignore", "pipe", "pipe"],
      ...(options.uid !== undefined && { uid: options.uid, gid: options.uid }),
      env: {
        // biome-ignore lint/style/noProcessEnv: the child needs what finds its programs, and what was compiled before
        ...pick(process.env, "PATH", "NODE_COMPILE_CACHE"),
        SVC_TASK: JSON.stringify(task),
        ...options.env,
      },
    },
  );
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    if (options.stopAtProgress && stdout.includes(progressMark)) child.kill("SIGTERM");
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve([code, signal]));
  });
  await rm(secret, { recursive: true });
  const lines = stdout.split("\n");
  const marked = (mark: string) =>
    lines
      .filter((line) => line.startsWith(mark))
      .map((line) => JSON.parse(line.slice(mark.length)) as unknown);
  const [result] = marked(resultMark);
  return {
    code,
    signal,
    stderr,
    result: result === undefined ? undefined : TaskResult.parse(result),
    progress: marked(progressMark).map((progress) => Progress.parse(progress)),
  };
}

/** What a task that must have succeeded tells. */
export function done(run: Run): TaskDone {
  if (run.code !== 0 || !run.result?.ok)
    throw new Error(`the task failed: ${run.code} ${JSON.stringify(run.result)} ${run.stderr}`);
  return run.result.done;
}

/** The fault of a task that must have been refused. */
export function fault(run: Run) {
  if (run.code !== 0 || !run.result || run.result.ok)
    throw new Error(`the task was not refused: ${run.code} ${JSON.stringify(run.result)} ${run.stderr}`);
  return run.result.fault;
}
