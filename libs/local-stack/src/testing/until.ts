import { setTimeout as delay } from "node:timers/promises";
import { patience } from "./patience.ts";

const longestPauseMs = 100;

/**
 * Waits until `check` answers something truthy, and answers that. A check that throws counts as not yet. Throws after
 * `withinMs` (later where the runner found the machine slow), with what the check threw last as its cause.
 */
export async function until<T>(
  check: () => T | Promise<T>,
  withinMs = 10_000,
  what: string = check.toString(),
): Promise<Exclude<T, undefined | null | false>> {
  const startedAt = performance.now();
  let cause: unknown;
  for (;;) {
    try {
      cause = undefined;
      const value = await check();
      if (value) return value as Exclude<T, undefined | null | false>;
    } catch (error) {
      cause = error;
    }
    const waitedMs = performance.now() - startedAt;
    if (waitedMs > withinMs * patience) break;
    // A tenth of what it took already: a short wait ends soon, a long one does not keep the machine busy.
    await delay(Math.min(longestPauseMs, Math.max(1, waitedMs / 10)));
  }
  const reason = cause === undefined ? "" : `: ${String(cause)}`;
  throw new Error(`waited ${withinMs} ms for ${what}${reason}`, { cause });
}
