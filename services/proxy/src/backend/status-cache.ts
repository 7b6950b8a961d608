import { type Backend, readStatus, type ServerAnswer } from "@svc/minecraft";

/** Status answers of servers, cached for a moment; concurrent readers share one request. */
export type StatusCache = {
  /** As a client of `protocol` sees it; undefined when the server does not answer. */
  read: (backend: Backend, protocol: number) => Promise<ServerAnswer | undefined>;
};

export function createStatusCache(about: {
  keepMs: number;
  timeoutMs: number;
  now: () => number;
}): StatusCache {
  const kept = new Map<string, { until: number; answer: Promise<ServerAnswer | undefined> }>();
  return {
    read: (backend, protocol) => {
      const key = `${backend.name} ${backend.host} ${backend.port} ${protocol}`;
      const found = kept.get(key);
      if (found && about.now() < found.until) return found.answer;
      for (const [old, { until }] of kept) if (about.now() >= until) kept.delete(old);
      const answer = readStatus({ ...backend, timeoutMs: about.timeoutMs }, protocol).catch(() => undefined);
      kept.set(key, { until: about.now() + about.keepMs, answer });
      return answer;
    },
  };
}
