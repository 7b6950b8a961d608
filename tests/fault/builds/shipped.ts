// Builds as it is shipped: bundled, and started with the code cache of an earlier start.

import { execFile } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { promisify } from "node:util";
import {
  bundleSpec,
  findPrograms,
  programEnv,
  runProgram,
} from "../../../libs/local-stack/src/program/programs.ts";
import type { Program } from "./program.ts";

/** How Node runs a program. */
export type Main = { args: readonly string[]; env: NodeJS.ProcessEnv };

const repo = resolve(import.meta.dirname, "../../..");

export async function findShippedBuilds(): Promise<Main> {
  const { command, args, env } = bundleSpec(repo, process.env);
  const programs = await findPrograms(repo, async () => {
    await promisify(execFile)(command, args, { cwd: repo, env });
  });
  return { args: runProgram(programs, "builds"), env: programEnv(programs) };
}

/** The first start compiles, and a process that ends well leaves behind what it compiled. */
export async function startWarm(program: Program): Promise<void> {
  await program.start();
  const { child } = program;
  if (child) await Promise.all([once(child, "exit"), child.kill("SIGTERM")]);
  await program.start();
}
