import type { Kube } from "@svc/kube";
import type { Mesh } from "@svc/mesh";
import type { Logger } from "@svc/telemetry";
import type { Settings } from "./config.ts";
import type { StorageDb } from "./database/tables.ts";
import type { StorageMetrics } from "./metrics.ts";

/** The dependencies of this service; functions pick what they need. */
export type StorageDeps = {
  kube: Kube;
  mesh: Pick<Mesh, "call" | "audit">;
  db: StorageDb;
  settings: Settings;
  metrics: StorageMetrics;
  log: Logger;
  /** Unix milliseconds. */
  now: () => number;
  /** Of the span that runs, for a Job that is made in it. */
  traceparent?: () => string | undefined;
};

/** For functions that only access the cluster. */
export type ClusterDeps = Pick<StorageDeps, "kube" | "settings" | "traceparent">;

/** Where the Jobs of worlds are. */
export function inNamespace({ settings }: Pick<StorageDeps, "settings">) {
  return { namespace: settings.k8s.namespace };
}

export function logDepsOf({ kube, settings }: ClusterDeps) {
  return { kube, namespace: settings.k8s.namespace, lineBytes: settings.storage.log_line };
}

export function lockDepsOf({ kube, settings }: ClusterDeps) {
  return { kube, ttlMs: settings.storage.lock_ttl, refreshMs: settings.storage.lock_refresh };
}
