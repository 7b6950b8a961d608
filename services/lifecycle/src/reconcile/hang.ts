// Whether a server that no longer answers may be replaced (docs/reference/crashes.md#hang). Pure. The rules only hold back the
// automatic restart after a timeout; none of them restarts anything by itself.

import type { restartPolicies } from "@svc/proto";
import { restartPolicyOf } from "../cluster/resource.ts";
import { type HungRun, hungRunOf } from "../crash/hung-run.ts";
import type { Observed } from "./observed.ts";

const minuteMs = 60_000;

/** Signs of life; undefined is what could not be read, which counts as alive. */
export type Signs = {
  /** When RCON was lost, Unix milliseconds. */
  lostAt: number;
  lastLineAt: number | undefined;
  /** Undefined when nobody knows how many played then, which counts as some. */
  players: number | undefined;
};

/** Undefined when a restart may go on; else why the process is left alone. */
export function decideHang(
  policy: restartPolicies.RestartPolicy,
  signs: Signs,
  now: number,
): string | undefined {
  if (policy.when_hung === "restart") return undefined;
  if (policy.when_hung === "leave") return "Its restart policy leaves it alone.";
  const { lostAt, lastLineAt, players } = signs;
  if (lastLineAt === undefined) return "It is left alone: its log cannot be read, so it may be at work.";
  const silentMs = now - Math.max(lostAt, lastLineAt);
  const neededMs = policy.silent_minutes * minuteMs * (players === 0 ? 1 : 2);
  if (silentMs >= neededMs) return undefined;
  const minutes = Math.round(neededMs / minuteMs);
  return `It is left alone until its log is silent for ${minutes} minutes.`;
}

/** The run that hangs: its process had been reached before and still runs. */
export function hungRun({ status, pod }: Observed): HungRun | undefined {
  return pod && hungRunOf(status, pod);
}

/** Why the automatic restart must wait; undefined when it need not. */
export function heldBack(observed: Observed, now: number): string | undefined {
  const run = hungRun(observed);
  if (!run) return undefined;
  const { lastLineAt, memory, server } = observed;
  const signs = { lostAt: run.lostAt.getTime(), lastLineAt, players: memory.lostPlayers };
  return decideHang(restartPolicyOf(server), signs, now);
}

/** Whether this pass must know when the log spoke last. */
export function needsLastLine(observed: Observed): boolean {
  const { server, status, probe } = observed;
  if (restartPolicyOf(server).when_hung !== "restart_if_silent") return false;
  return status.phase === "Failed" && probe.kind === "failed" && hungRun(observed) !== undefined;
}
