import type { Logger } from "@svc/telemetry";
import type { InternalApi } from "../api/internal-api.ts";
import type { Activity } from "../report/activity.ts";
import { type Registry, saveLastServers } from "./registry.ts";

type Refresh = {
  api: InternalApi;
  registry: Registry;
  activity: Activity;
  log: Logger;
  now: () => number;
  dataDir: string;
  outageWarningMs: number;
};

/** One poll of the list. A failed one keeps what is known; outages are told when they begin, every five minutes, and when they end. */
export function createRefresh(about: Refresh): () => Promise<void> {
  const { api, registry, activity, log, now } = about;
  let downSince: number | undefined;
  let warnedAt = 0;
  const failed = (reason: string) => {
    activity.count("refreshesFailed");
    downSince ??= now();
    const isFirst = downSince === now();
    if (!isFirst && now() - warnedAt < about.outageWarningMs) return;
    warnedAt = now();
    log.warn({ reason, down_ms: now() - downSince }, "polling the server list failed; keeping the last one");
  };
  return async () => {
    const answer = await api.listServers();
    if (!answer.ok) return failed(answer.status === 0 ? answer.message : `${answer.status} ${answer.code}`);
    if (downSince !== undefined)
      log.info({ down_ms: now() - downSince }, "polling the server list works again");
    downSince = undefined;
    const { added, removed, changed } = registry.replace(answer.value.items, now());
    if (added.length + removed.length + changed.length > 0)
      log.info({ added, removed, changed }, "servers changed");
    await saveLastServers(about.dataDir, answer.value.items).catch((error: unknown) =>
      log.warn({ reason: String(error) }, "saving the server list failed"),
    );
  };
}
