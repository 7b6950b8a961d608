import { execFile } from "node:child_process";
import { StackError } from "../error.ts";
import { programEnv, runProgram, type StackPrograms } from "./programs.ts";
import type { ProgramName } from "./sources.ts";

type Run = {
  /** Written to its standard input as JSON, which no other user of the machine sees. */
  input: unknown;
  env: NodeJS.ProcessEnv;
  /** Ends it. */
  signal?: AbortSignal;
};

/**
 * Runs a program to its end and returns what it printed; throws a `StackError` with the end of its error output. For
 * work of a start that would leave tens of megabytes in the supervisor for as long as the stack runs.
 */
export function runToEnd(
  programs: StackPrograms,
  name: ProgramName,
  { input, env, signal }: Run,
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const options = { env: { ...env, ...programEnv(programs) }, maxBuffer: 16 * 1024 * 1024, ...{ signal } };
  const child = execFile(process.execPath, runProgram(programs, name), options, (error, stdout, stderr) => {
    if (error === null) return resolve(stdout);
    reject(new StackError(stderr.trim().split("\n").at(-1) || `${name} ended: ${error.message}`));
  });
  // It may end before it has read all.
  child.stdin?.on("error", () => undefined).end(JSON.stringify(input));
  return promise;
}
