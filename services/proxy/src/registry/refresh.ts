import type { Logger } from "@svc/telemetry";
import type { Face } from "../api/internal-api.ts";
import type { Activity } from "../report/activity.ts";
import { type Registry, saveLastServers } from "./registry.ts";

export type Refresh = {
  face: Face;
  registry: Registry;
  activity: Activity;
  log: Logger;
  now: () => number;
  dataDir: string;
  outageWarningMs: number;
};

/** One poll of the list. A failed one keeps what is known; outages are told when they begin, every five minutes, and when they end. */
export function createRefresh(about: Refresh): () => Promise<void> {
  const { face, registry, activity, log, now } = about;
  let downSince: number | undefined;
  let warnedAt = 0;
  const failed = (reason: string) => {
    activity.count("refreshesFailed");
    downSince ??= now();
    const isFirst = downSince === now();
    if (!isFirst && now() - warnedAt < about.outageWarningMs) return;
    warnedAt = now();
    log.warn(
      { reason, down_ms: now() - downSince },
      "the service does not answer; the last list of servers stays",
    );
  };
  return async () => {
    const answer = await face.listServers();
    if (!answer.ok) return failed(answer.status === 0 ? answer.message : `${answer.status} ${answer.code}`);
    if (downSince !== undefined) log.info({ down_ms: now() - downSince }, "the service answers again");
    downSince = undefined;
    const { added, removed, changed } = registry.replace(answer.value.items, now());
    if (added.length + removed.length + changed.length > 0)
      log.info({ added, removed, changed }, "servers changed");
    await saveLastServers(about.dataDir, answer.value.items).catch((error: unknown) =>
      log.warn({ reason: String(error) }, "the list of servers could not be saved"),
    );
  };
}
