// One collection of garbage under the gate's lease (docs/reference/registry.md#collection). Between the registry's marking
// and its sweep nothing may be written: a blob that is pushed then would be deleted with its name in place.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { touch } from "./done-file.ts";

export type LeaseClient = {
  acquire: () => Promise<{ id: string; ttlMs: number } | { retryAfterMs: number; reason: string }>;
  /** False when the lease has ended. */
  renew: (id: string, pid?: number) => Promise<boolean>;
  end: (id: string) => Promise<void>;
};

type Collected =
  | { kind: "done" }
  /** The pushes never paused. */
  | { kind: "busy"; reason: string }
  | { kind: "failed"; reason: string };

type Options = {
  lease: LeaseClient;
  program: string;
  programConfig: string;
  doneFile: string;
  waitMs: number;
  now: () => number;
  signal: AbortSignal;
};

const longestPauseMs = 60_000;
const keptOutput = 4_096;
const noRepositories = "Path not found: /docker/registry/v2/repositories";

export async function collectGarbage(options: Options): Promise<Collected> {
  const { lease, waitMs, now, signal } = options;
  const end = now() + waitMs;
  let held = await lease.acquire();
  while (!("id" in held)) {
    if (now() + held.retryAfterMs > end) return { kind: "busy", reason: held.reason };
    await sleep(Math.min(held.retryAfterMs, longestPauseMs), undefined, { signal });
    held = await lease.acquire();
  }
  const { id, ttlMs } = held;
  try {
    return await sweep(options, { id, ttlMs });
  } finally {
    await lease.end(id);
  }
}

async function sweep(options: Options, { id, ttlMs }: { id: string; ttlMs: number }): Promise<Collected> {
  const { lease, program, programConfig, signal } = options;
  // It begins when told to: until then the gate does not know which process it has to wait for, and without this
  // process it ends at the closed pipe.
  const child = spawn(
    "/bin/sh",
    ["-c", 'read -r go && exec "$0" garbage-collect "$1"', program, programConfig],
    {
      stdio: ["pipe", "ignore", "pipe"],
    },
  );
  const exited = once(child, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
  let output = "";
  child.stderr.setEncoding("utf8");
  child.stderr.on("data", (text: string) => {
    output = (output + text).slice(-keptOutput);
  });
  child.stdin.on("error", () => undefined);
  const abort = () => void child.kill("SIGKILL");
  signal.addEventListener("abort", abort);
  const renewal = setInterval(() => {
    lease.renew(id, child.pid).then(
      (isHeld) => isHeld || child.kill("SIGKILL"),
      // The gate is being restarted; it stays read-only while it knows the process.
      () => undefined,
    );
  }, ttlMs / 3);
  try {
    if (!(await lease.renew(id, child.pid)) || signal.aborted) child.kill("SIGKILL");
    child.stdin.end("go\n");
    const [code, killedBy] = await exited;
    if (code === 0) {
      touch(options.doneFile);
      return { kind: "done" };
    }
    // Nothing was ever pushed.
    if (output.trim().endsWith(noRepositories)) return { kind: "done" };
    const how = code === null ? `was ended by ${killedBy}` : `exited with code ${code}`;
    return {
      kind: "failed",
      reason: `${program} garbage-collect ${how}: ${output.trim().split("\n").at(-1)}`,
    };
  } finally {
    clearInterval(renewal);
    signal.removeEventListener("abort", abort);
    child.kill("SIGKILL");
    await exited;
  }
}
