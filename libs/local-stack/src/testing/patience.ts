// A machine that is shared may run at a fifth of its speed for an hour. The runner of the tests measures it, and what
// waits for something to come about waits so many times longer; nothing is judged by how long it took.

// biome-ignore lint/style/noProcessEnv: the test runner tells its files
const told = Number(process.env["SVC_TEST_PATIENCE"] ?? 1);

/** How many times longer than usual a test waits before it gives up; at least 1. */
export const patience: number = Number.isFinite(told) ? Math.max(1, told) : 1;

const usualMs = 150;
const mostPatience = 8;

/** How many times slower than usual this machine is now, from 1 to 8. */
export function measureSlowness(): number {
  const startedAt = performance.now();
  let sum = 0;
  for (let n = 0; n < 1e8; n++) sum = (sum + n * 7) | 0;
  const took = performance.now() - startedAt + (sum & 0);
  return Math.min(mostPatience, Math.max(1, Math.round(took / usualMs)));
}
