// The program of the host as ops-watchdog starts it: bundled, with its flags and without a code cache.

import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { hostProgramFlags, hostProgramMemory } from "@svc/config";
import { bundleSpec, findPrograms } from "../../../libs/local-stack/src/program/programs.ts";
import { root } from "./anchors.ts";
import { peakResidentMb } from "./process-stats.ts";

type Ran = {
  /** The most memory that the process had. */
  peakMb: number;
  /** From its start to its end. */
  seconds: number;
  answer: unknown;
};

/** Runs one command as a process of its own. */
export async function runShippedHost(command: object, env: NodeJS.ProcessEnv): Promise<Ran> {
  const bundle = bundleSpec(root, process.env);
  const programs = await findPrograms(root, async () => {
    await promisify(execFile)(bundle.command, bundle.args, { cwd: root, env: bundle.env });
  });
  const startedAt = performance.now();
  const { NODE_COMPILE_CACHE: _, ...own } = process.env;
  const child = spawn(process.execPath, [...hostProgramFlags, programs.file("ops-watchdog-host")], {
    env: { ...own, ...hostProgramMemory, ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const said = text(child.stderr);
  const answered = text(child.stdout);
  const ended = once(child, "exit");
  child.stdin.end(JSON.stringify(command));
  let peakMb = 0;
  while (child.exitCode === null && child.signalCode === null) {
    peakMb = Math.max(peakMb, peakResidentMb(child.pid ?? 0));
    await wait(10);
  }
  const [code] = (await ended) as [number | null];
  const seconds = (performance.now() - startedAt) / 1_000;
  if (code !== 0) throw new Error(`the program of the host ended with ${code}: ${await said}`);
  return { peakMb, seconds, answer: JSON.parse(await answered) };
}
