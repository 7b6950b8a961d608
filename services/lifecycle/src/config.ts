// Every number of the lifecycle by name, with the value that the specification gives it as default.

import { duration, section, size } from "@svc/config";
import { z } from "zod";

const whole = (fallback: number) => z.number().int().min(0).default(fallback);

/** Sections as behaviour.md d has them; keys that this service does not read are accepted where it shares a section. */
export const settings = z.object({
  server: section({
    listen: z.string().default("0.0.0.0:8080"),
    root_domain: z.string().default("svc.localhost"),
  }),
  k8s: section({
    namespace: z.string().min(1).default("minecraft"),
    egress_mode: z.enum(["loadbalancer", "nodeport"]).default("loadbalancer"),
    metallb_pool: z.string().default(""),
  }),
  lifecycle: section({
    /** Least time between two wakes of one server (interface.md 4.5). */
    wake_cooldown: duration("30s"),
    /** Servers that may want to run at once; 0 is no cap. */
    max_running_servers: whole(0),

    /** Time between the two notices before a stop with players on (interface.md 3.1). */
    stop_notice: duration("30s"),
    /** Longest wait for `save-all flush` to answer (behaviour.md b.4). */
    save_timeout: duration("30s"),
    probe_timeout: duration("5s"),
    /** Probes at the same time (performance.md G11). */
    max_probes: whole(200),
    /** Misses in a row before a running server is starting again (behaviour.md b.3). */
    probe_misses: whole(3),
    probe_retry: duration("10s"),
    /** How often players of a running server are counted (architecture.md 6.13). */
    count_interval: duration("30s"),
    /** After a join was reported the count is read again this often, for this long. */
    join_count_interval: duration("2s"),
    join_count_window: duration("10s"),
    /** After a run's first ready probe an empty server is not yet idle (behaviour.md b.6). */
    arrival_window: duration("3m"),
    /** A password that was read is trusted this long by probes of a running server. */
    password_ttl: duration("5m"),

    reconcile_starting: duration("2s"),
    reconcile_stopping: duration("5s"),
    reconcile_secret: duration("10s"),
    reconcile_maintenance: duration("5s"),
    reconcile_running: duration("60s"),
    reconcile_failed: duration("5m"),
    reconcile_node: duration("10s"),
    /** Servers that are worked on at the same time. */
    concurrency: whole(200),
    /** All objects are listed again this often, in case a watch lost something. */
    relist: duration("10m"),

    startup_timeout: duration("300s"),
    auto_restarts: whole(3),
    /** Wait before the first automatic restart; it doubles with each. */
    auto_restart_backoff: duration("1m"),
    /** A maintenance lock that is not refreshed ends after this (interface.md 3.2). */
    maintenance_lock: duration("2m"),

    default_memory: z.string().default("2Gi"),
    default_storage: z.string().default("8Gi"),
    /** Seconds of idle_default: a new user server may sit empty this long. */
    idle_default: duration("600s"),
    termination_grace: duration("300s"),
    heap_reserve_min: size("512Mi"),
    /** Images that a server may have, `name:tag` or `name:*`; the first is used when none is named. */
    images: z.array(z.string().min(1)).min(1).default(["svc.local/demo-server:1.21.4"]),
    /** Image with the platform's init steps; without it no init containers are added. */
    platform_image: z.string().default(""),
    /** Name of the Secret (key `secret`) with the forwarding secret. */
    forwarding_secret_name: z.string().default("forwarding-secret"),

    /** How often due tasks are looked for (behaviour.md i.3). */
    schedule_tick: duration("15s"),
    /** Tasks that one server may have (interface.md 8). */
    schedule_limit: whole(20),
    /** A run that is later than this is dropped as missed. */
    schedule_missed_after: duration("10m"),
    /** A run that was claimed this long ago and took no step has failed. */
    schedule_claim_patience: duration("2m"),
    schedule_stop_wait: duration("15m"),
    schedule_backup_wait: duration("45m"),
    /** A backup that storage does not know is waited for this long. */
    schedule_backup_appear: duration("2m"),
    schedule_start_wait: duration("15m"),
    /** A run by hand is answered after this at the latest. */
    schedule_first_step: duration("30s"),
    /** Tasks that one replica works on at the same time. */
    schedule_concurrency: whole(32).pipe(z.number().min(1)),

    lease_duration: duration("6s"),
    lease_renew: duration("2s"),
    list_page: whole(500).pipe(z.number().min(1).max(1_000)),
  }),
});

export type Settings = z.output<typeof settings>;
export type LifecycleSettings = Settings["lifecycle"];

/** The kubeconfig of this process; undefined inside a pod, which has a service account. */
export function kubeconfigFile(): string | undefined {
  return process.env["SVC_KUBECONFIG"] || undefined;
}
