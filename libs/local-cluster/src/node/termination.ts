import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Container } from "../controllers/objects.ts";
import type { Command } from "./command.ts";
import { sizeOf } from "./log-file.ts";
import { check } from "./probe.ts";
import type { Run, RunEnd } from "./run.ts";

const PID_WAIT_MS = 20;
const MESSAGE_BYTES = 4096;
const FALLBACK_BYTES = 2048;

async function runPreStop(
  container: Container,
  command: Command | undefined,
  { podIP, leftMs }: { podIP: string; leftMs: number },
) {
  const hook = container.lifecycle?.preStop;
  if (hook === undefined || leftMs <= 0) return;
  if (hook.sleep !== undefined) await sleep(Math.min(hook.sleep.seconds * 1000, leftMs));
  else if (command !== undefined) await check({ podIP, container, exec: command.beside }, hook, leftMs);
}

type Ending = { run: Run; container: Container; command: Command | undefined; podIP: string };

/**
 * Ends a run as Kubernetes does: preStop hook, SIGTERM, and SIGKILL for all its processes when the grace period is
 * over.
 */
export async function terminate({ run, container, command, podIP }: Ending, graceMs: number): Promise<void> {
  const deadlineMs = Date.now() + graceMs;
  const over = new AbortController();
  const ended = run.ended.then(() => over.abort());
  const kill = sleep(graceMs, undefined, { signal: over.signal }).then(
    () => run.kill(),
    () => undefined,
  );
  await Promise.race([ended, runPreStop(container, command, { podIP, leftMs: graceMs })]);
  // A container that has only just been started may not have written its pid yet.
  while (!over.signal.aborted && Date.now() < deadlineMs && !run.signal("SIGTERM")) {
    await Promise.race([ended, sleep(PID_WAIT_MS)]);
  }
  await Promise.all([ended, kill]);
}

async function tail(file: string, bytes: number): Promise<string> {
  const size = await sizeOf(file);
  const handle = await open(file, "r");
  try {
    const length = Math.min(size, bytes);
    const { buffer } = await handle.read(Buffer.alloc(length), 0, length, size - length);
    return buffer.toString("utf8");
  } finally {
    await handle.close();
  }
}

/** The termination message of a run: the content of SVC_TERMINATION_LOG, or the end of its log if the policy says so. */
export async function terminationMessage(
  run: Run,
  container: Container,
  end: RunEnd,
): Promise<string | undefined> {
  const told = await readFile(join(run.dir, "termination-log")).catch(() => Buffer.alloc(0));
  if (told.length > 0) return told.subarray(0, MESSAGE_BYTES).toString("utf8");
  const fallback = container.terminationMessagePolicy === "FallbackToLogsOnError" && end.exitCode !== 0;
  const text = fallback ? await tail(join(run.dir, "log"), FALLBACK_BYTES).catch(() => "") : "";
  return text === "" ? undefined : text;
}
