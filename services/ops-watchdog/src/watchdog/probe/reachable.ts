// One shape for every dependency that is reached or not: nothing when it answers, one finding when it refuses or is silent.

import type { Finding } from "../finding.ts";
import { firstLine, overdue, type Probe, type ProbeContext, UnknownError } from "./probe.ts";

/** Less than a probe has: a dependency that accepts and never answers is judged, not unknown. */
const withinMs = 15_000;

/** Fires `key` while `reach` rejects or is silent. What has no meaning here rejects with `UnknownError`. */
export function reachable(
  key: string,
  about: {
    reach: (context: ProbeContext, signal: AbortSignal) => Promise<unknown>;
    wrong: (why: string) => Finding;
  },
): Probe {
  return {
    prefixes: [key],
    look: async (context, signal) => {
      const limit = AbortSignal.timeout(withinMs);
      const reached = about.reach(context, AbortSignal.any([signal, limit]));
      try {
        await Promise.race([reached, overdue(limit, withinMs)]);
        return { findings: [] };
      } catch (error) {
        // Whoever lost the race may still fail.
        reached.catch(() => undefined);
        if (error instanceof UnknownError) throw error;
        return { findings: [about.wrong(firstLine(error))] };
      }
    },
  };
}
