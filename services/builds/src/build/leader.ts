// The loop of one replica over all builds. Leadership only saves work: every change is a compare-and-set.

import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { startLease } from "@svc/kube";
import { repeat } from "@svc/service/loop";
import { listenForNotifications, type Store } from "@svc/store";
import { createWake, type Wake } from "@svc/store/wake";
import type { Tables } from "../database.ts";
import type { ClusterDeps } from "./deps.ts";
import { createLogFollowers } from "./log/followers.ts";
import { reconcileBuilds } from "./reconcile.ts";
import { deleteOldLogs } from "./store.ts";

/** The trigger of the table notifies it. */
const channel = "builds_work";
const cleanupEveryMs = 3_600_000;

export function startLeading(
  deps: ClusterDeps,
  { url, schema }: Pick<Store<Tables>, "url" | "schema">,
): { close: () => Promise<void> } {
  const { settings, log } = deps;
  const { builds, registry } = settings;
  const wake = createWake();
  const listening = listenForNotifications({
    ...{ url, schema, channel, log },
    onNotification: wake.ring,
    onListening: wake.ring,
  });
  const lease = startLease({
    kube: deps.kube,
    namespace: registry.build_namespace,
    name: "builds-jobs",
    identity: `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`,
    durationMs: builds.lease_duration,
    renewMs: builds.lease_renew,
    lead: (signal) => lead(deps, wake, signal),
    log,
  });
  return {
    close: async () => {
      await lease.release();
      await listening.close();
    },
  };
}

async function lead(deps: ClusterDeps, wake: Wake, signal: AbortSignal): Promise<void> {
  const { poll_interval, busy_interval, log_retention } = deps.settings.builds;
  const followers = createLogFollowers(deps);
  let cleanAt = 0;
  const round = async () => {
    const running = await reconcileBuilds(deps, signal);
    followers.follow(running);
    if (deps.now() >= cleanAt) {
      await deleteOldLogs(deps.db, new Date(deps.now() - log_retention));
      cleanAt = deps.now() + cleanupEveryMs;
    }
    return running.length > 0;
  };
  await repeat(round, {
    everyMs: busy_interval,
    idle: { everyMs: poll_interval, wake },
    onError: (error) => {
      deps.log.warn({ error: error.message }, "build loop failed; retrying");
      return false;
    },
    signal,
  });
  await followers.close();
  // Now another replica counts.
  deps.metrics.unfinished({ pending: 0, building: 0 });
}
