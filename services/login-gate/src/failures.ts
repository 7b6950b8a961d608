// During an outage hundreds of calls fail each second: all are counted, one line a minute is logged.

import type { Counter, Logger } from "@svc/telemetry";

const lineEveryMs = 60_000;

export function createFailureLog({ log, counter }: { log: Logger; counter: Counter<"call"> }) {
  let lastLineAt = Number.NEGATIVE_INFINITY;
  return (call: string, error: unknown): void => {
    counter.inc({ call });
    const now = performance.now();
    if (now - lastLineAt < lineEveryMs) return;
    lastLineAt = now;
    log.warn({ call, err: error }, "service call failed");
  };
}
