import type { Logger } from "@svc/telemetry";

export type Strangers = { warn: (server: string, type: string) => void };

/** A server that sends what it may not is named at most once a minute. */
export function createStrangers(about: { log: Logger; everyMs: number; now: () => number }): Strangers {
  const warnedAt = new Map<string, number>();
  return {
    warn: (server, type) => {
      const last = warnedAt.get(server) ?? Number.NEGATIVE_INFINITY;
      if (about.now() - last < about.everyMs) return;
      warnedAt.set(server, about.now());
      about.log.warn({ server, type }, "a server sent a control frame that it may not send");
    },
  };
}
