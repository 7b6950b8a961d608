// Starts a collection when the last one is old enough, in a process of its own.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import type { Logger } from "@svc/telemetry";

type Options = { doneFile: string; everyMs: number; log: Logger };

const checkEveryMs = 60_000;

/** `stop` ends the timer and a collection under way. */
export function startDailyCollection({ doneFile, everyMs, log }: Options): { stop: () => Promise<void> } {
  let running: { exited: Promise<unknown>; kill: () => void } | undefined;
  const startedAt = Date.now();
  let attemptedAt = 0;
  const collect = () => {
    const [, main = ""] = process.argv;
    const child = spawn(process.execPath, [...process.execArgv, main, "garbage-collect"], {
      stdio: "inherit",
    });
    const exited = once(child, "exit").then(
      ([code]) => void (code !== 0 && log.error({ code }, "collection failed")),
      (error: unknown) => log.error({ err: error }, "collection failed"),
    );
    running = { exited, kill: () => void child.kill() };
    void exited.then(() => {
      running = undefined;
    });
  };
  const timer = setInterval(() => {
    const last = Math.max(lastDoneAt(doneFile) ?? startedAt, attemptedAt);
    if (running || Date.now() - last < everyMs) return;
    attemptedAt = Date.now() - everyMs + Math.min(everyMs, 3_600_000);
    collect();
  }, checkEveryMs);
  return {
    stop: async () => {
      clearInterval(timer);
      running?.kill();
      await running?.exited;
    },
  };
}

function lastDoneAt(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs;
}
