// Whether a server may be kept awake until a time (docs/reference/server-states.md#keep-awake). Pure.

import type { FaultOptions } from "@svc/proto";
import { keptAwakeUntil } from "../cluster/kept-awake.ts";
import { idleLimitMs, type Server } from "../cluster/resource.ts";
import type { LifecycleSettings } from "../config.ts";

type Bounds = Pick<LifecycleSettings, "keep_awake_longest" | "keep_awake_servers">;

type Refusal = {
  fault: "bad_keep_awake" | "keep_awake_quota_exceeded" | "no_idle_stop" | "server_retiring";
  options?: FaultOptions;
};

/** Whether it is kept awake at a time, unix milliseconds; without an idle stop there is nothing to keep it from. */
export function isKeptAwake(server: Server, now: number, { keep_awake_longest }: Bounds): boolean {
  return idleLimitMs(server) > 0 && (keptAwakeUntil(server, keep_awake_longest) ?? 0) > now;
}

export function refusalOfKeepAwake(
  server: Server,
  now: number,
  about: {
    until: number;
    isRetiring: boolean;
    /** Other servers of its owner that are kept awake; undefined: they are not counted. */
    others: number | undefined;
    bounds: Bounds;
  },
): Refusal | undefined {
  const { until, isRetiring, others, bounds } = about;
  const latest = now + bounds.keep_awake_longest;
  if (!(until > now && until <= latest)) {
    const message = `until must be later than now and not after ${new Date(latest).toISOString()}.`;
    return { fault: "bad_keep_awake", options: { message } };
  }
  if (isRetiring) return { fault: "server_retiring" };
  if (idleLimitMs(server) === 0) return { fault: "no_idle_stop" };
  if (others === undefined || others < bounds.keep_awake_servers) return undefined;
  const message =
    bounds.keep_awake_servers === 0
      ? "Only operators can keep servers awake here."
      : `${others} of the owner's servers are kept awake, and the limit is ${bounds.keep_awake_servers}; let another one sleep first.`;
  return { fault: "keep_awake_quota_exceeded", options: { message } };
}
