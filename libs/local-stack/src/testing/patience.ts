// A shared machine may run at a fifth of its speed for an hour. The test runner measures it and multiplies the timeouts
// of waits by this factor; no test asserts on elapsed time.

import { createHash } from "node:crypto";

// biome-ignore lint/style/noProcessEnv: the test runner tells its files
const factor = Number(process.env["SVC_TEST_PATIENCE"] ?? 1);

/** How many times longer than usual a test waits before it gives up; at least 1. */
export const patience: number = Number.isFinite(factor) ? Math.max(1, factor) : 1;

/** What a round takes on the machine of CI when nobody else uses it. */
const usualMs = 45;
const mostPatience = 8;
const rounds = 9;

/** How many times slower than usual this machine is now, from 1 to 8. */
export function measureSlowness(): number {
  const took = Array.from({ length: rounds }, () => {
    const startedAt = performance.now();
    // Fresh memory, which a crowded host is slow to hand out, and work that needs no compiler: a loop's time depends on it.
    createHash("sha256")
      .update(Buffer.alloc(32 << 20, 1))
      .digest();
    return performance.now() - startedAt;
  });
  const median = took.sort((a, b) => a - b)[rounds >> 1] ?? usualMs;
  return Math.min(mostPatience, Math.max(1, Math.round(median / usualMs)));
}
