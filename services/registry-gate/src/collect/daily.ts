// Starts a collection when the last one is old enough, in a process of its own.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import type { Logger } from "@svc/telemetry";
import { touch } from "./done-file.ts";

type Options = {
  doneFile: string;
  everyMs: number;
  log: Logger;
  /** How often it is checked whether one is due. */
  checkEveryMs?: number;
  /** Runs one collection to its end and resolves with its exit code. */
  collect?: (signal: AbortSignal) => Promise<number | null>;
};

const retryMs = 3_600_000;

/** `stop` ends the timer and a collection under way. */
export function startDailyCollection(options: Options): { stop: () => Promise<void> } {
  const { doneFile, everyMs, log, checkEveryMs = 60_000, collect = collectInChild } = options;
  // The first one is due a day after the first start, however often the process is restarted.
  if (doneAt(doneFile) === undefined) touch(doneFile);
  const aborting = new AbortController();
  let running: Promise<void> | undefined;
  let attemptedAt = Number.NEGATIVE_INFINITY;
  const run = async () => {
    try {
      const code = await collect(aborting.signal);
      if (code !== 0 && !aborting.signal.aborted) log.error({ code }, "collection failed; retrying");
    } catch (error) {
      log.error({ err: error }, "collection could not be started; retrying");
    } finally {
      running = undefined;
    }
  };
  const timer = setInterval(() => {
    const now = Date.now();
    const isDue = now - (doneAt(doneFile) ?? 0) >= everyMs && now - attemptedAt >= Math.min(everyMs, retryMs);
    if (running || !isDue) return;
    attemptedAt = now;
    running = run();
  }, checkEveryMs);
  return {
    stop: async () => {
      clearInterval(timer);
      aborting.abort();
      await running;
    },
  };
}

async function collectInChild(signal: AbortSignal): Promise<number | null> {
  const [, main = ""] = process.argv;
  const child = spawn(process.execPath, [...process.execArgv, main, "garbage-collect"], { stdio: "inherit" });
  signal.addEventListener("abort", () => child.kill(), { once: true });
  const [code] = await once(child, "exit");
  return code;
}

function doneAt(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs;
}
