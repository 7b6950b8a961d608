import type { Logger } from "@svc/telemetry";

/** `what` is the type of a control frame, or the name of a packet. */
export type ForeignFrameLog = { warn: (server: string, what: string) => void };

/** Logs a server that sends forbidden packets, at most once a minute. */
export function createForeignFrameLog(about: {
  log: Logger;
  everyMs: number;
  now: () => number;
}): ForeignFrameLog {
  const warnedAt = new Map<string, number>();
  return {
    warn: (server, what) => {
      const last = warnedAt.get(server) ?? Number.NEGATIVE_INFINITY;
      if (about.now() - last < about.everyMs) return;
      for (const [name, at] of warnedAt) if (about.now() - at >= about.everyMs) warnedAt.delete(name);
      warnedAt.set(server, about.now());
      about.log.warn({ server, what }, "server sent a forbidden packet; dropped");
    },
  };
}
