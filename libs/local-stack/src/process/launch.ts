import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { errorText, StackError } from "../error.ts";
import { findProcess, type ProcessRef } from "./identity.ts";
import type { ProcessPlan, Readiness } from "./plan.ts";

export type Exit = { code: number | null; signal: NodeJS.Signals | null; error?: string };

/** A started child: `exited` resolves once and never rejects. */
export type Launched = {
  child: ChildProcess;
  ref: ProcessRef | undefined;
  /** Size of the log when the child started: its own lines begin here. */
  logOffset: number;
  startedAt: number;
  exited: Promise<Exit>;
};

const readyPollMs = 20;

/**
 * Starts a program with its output appended to `logPath`. It leads a session of its own: a Ctrl-C in the terminal
 * reaches only us, and we end the children in order. The child writes the log file itself, so nothing is copied
 * through this process.
 */
export function launch(plan: ProcessPlan, logPath: string): Launched {
  const log = openSync(logPath, "a", 0o600);
  const logOffset = statSync(logPath).size;
  try {
    const child = spawn(plan.command, plan.args, {
      // biome-ignore lint/style/noProcessEnv: as spawn does it without an environment
      env: { ...(plan.env ?? process.env), ...plan.mark },
      ...(plan.cwd !== undefined && { cwd: plan.cwd }),
      ...(plan.uid !== undefined && { uid: plan.uid }),
      ...(plan.gid !== undefined && { gid: plan.gid }),
      detached: true,
      stdio: ["ignore", log, log],
    });
    const exited = new Promise<Exit>((resolve) => {
      child.once("error", (error) => resolve({ code: null, signal: null, error: error.message }));
      child.once("exit", (code, signal) => resolve({ code, signal }));
    });
    const ref = child.pid === undefined ? undefined : findProcess(child.pid);
    return { child, ref, logOffset, startedAt: Date.now(), exited };
  } finally {
    closeSync(log);
  }
}

/** Says in words how a process ended. */
export function describeExit(exit: Exit): string {
  if (exit.error !== undefined) return `could not be started: ${exit.error}`;
  return exit.signal ? `was ended by ${exit.signal}` : `exited with code ${exit.code}`;
}

/** At most `maxBytes` of a file from `offset`; empty when there is nothing there. */
export function readFrom(path: string, offset: number, maxBytes = 65_536): Buffer {
  // Polled many times a second: without anything new it must not cost a buffer.
  const newBytes = Math.min(maxBytes, statSync(path).size - offset);
  if (newBytes <= 0) return Buffer.alloc(0);
  const file = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(newBytes);
    return bytes.subarray(0, readSync(file, bytes, 0, newBytes, offset));
  } finally {
    closeSync(file);
  }
}

/** The last lines that a child wrote, for a message that names a fault. */
export function logTail(path: string, offset: number, lines = 8): string {
  const from = Math.max(offset, statSync(path).size - 16_384);
  const text = readFrom(path, from, 16_384).toString("utf8").trimEnd();
  return text.split("\n").slice(-lines).join("\n");
}

/** Follows the log of a child line by line until one matches. */
async function waitForLine(
  log: { path: string; offset: number },
  isReady: (line: string) => boolean,
  signal: AbortSignal,
): Promise<string | undefined> {
  let { offset } = log;
  let rest = Buffer.alloc(0);
  while (!signal.aborted) {
    const chunk = readFrom(log.path, offset);
    offset += chunk.length;
    if (chunk.length > 0) rest = Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      const line = rest.subarray(0, end).toString("utf8");
      rest = rest.subarray(end + 1);
      if (isReady(line)) return line;
    }
    await sleep(readyPollMs);
  }
  return undefined;
}

async function waitForProbe(
  pid: number | undefined,
  probe: (pid: number) => Promise<boolean>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    if (pid !== undefined && (await probe(pid))) return;
    await sleep(readyPollMs);
  }
}

/** `line`: what it said when it was ready, where a line tells. */
type ReadyOutcome = { state: "ready"; line?: string } | { state: "exited"; exit: Exit } | { state: "late" };

/** Waits until a child is ready, has ended, or `timeoutMs` have passed. A probe that throws makes this reject. */
export async function waitUntilReady(
  launched: Launched,
  logPath: string,
  options: { ready: Readiness | undefined; timeoutMs: number },
): Promise<ReadyOutcome> {
  const stop = new AbortController();
  const { ready } = options;
  const exited = launched.exited.then((exit): ReadyOutcome => ({ state: "exited", exit }));
  const alive = async (): Promise<ReadyOutcome> => {
    const log = { path: logPath, offset: launched.logOffset };
    const line = ready && "line" in ready ? await waitForLine(log, ready.line, stop.signal) : undefined;
    if (ready && "probe" in ready) await waitForProbe(launched.child.pid, ready.probe, stop.signal);
    if (launched.child.pid === undefined) return exited;
    return { state: "ready", ...(line !== undefined && { line }) };
  };
  const late = sleep(options.timeoutMs, undefined, { signal: stop.signal }).then(
    (): ReadyOutcome => ({ state: "late" }),
    (): ReadyOutcome => ({ state: "late" }),
  );
  try {
    return await Promise.race([alive(), exited, late]);
  } finally {
    stop.abort();
  }
}

/** Starts a program once, without supervision, and waits until it serves; throws a `StackError` when it does not. */
export async function launchReady(
  name: string,
  plan: ProcessPlan,
  options: { logPath: string; timeoutMs: number },
): Promise<Launched & { ref: ProcessRef }> {
  await plan.beforeStart?.();
  const launched = launch(plan, options.logPath);
  let outcome: ReadyOutcome;
  try {
    outcome = await waitUntilReady(launched, options.logPath, {
      ready: plan.ready,
      timeoutMs: options.timeoutMs,
    });
  } catch (error) {
    launched.child.kill("SIGKILL");
    await launched.exited;
    throw new StackError(`${name}: ${errorText(error)}`);
  }
  const { ref } = launched;
  if (outcome.state === "ready" && ref) return { ...launched, ref };
  launched.child.kill("SIGKILL");
  const exit = await launched.exited;
  const why =
    outcome.state === "late" ? `was not ready within ${options.timeoutMs / 1000} s` : describeExit(exit);
  throw new StackError(
    `${name} ${why}; the end of ${options.logPath}:\n${logTail(options.logPath, launched.logOffset)}`,
  );
}
