// Every number of the lifecycle by name, with the value that the specification gives it as default.

import { duration, section, size } from "@svc/config";
import { z } from "zod";

const whole = (fallback: number) => z.number().int().min(0).default(fallback);

/** Sections as docs/reference/settings.md has them; keys that this service does not read are accepted where it shares a section. */
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
    /** Least time between two wakes of one server (docs/reference/wake.md#checks). */
    wake_cooldown: duration("30s"),
    /** Servers that may want to run at once; 0 is no cap. */
    max_running_servers: whole(0),

    /** Time between the two notices before a stop with players on (docs/reference/server-states.md#phases). */
    stop_notice: duration("30s"),
    /** Longest wait for `save-all flush` to answer (docs/reference/server-states.md#probe). */
    save_timeout: duration("30s"),
    probe_timeout: duration("5s"),
    /** Probes at the same time (docs/performance.md). */
    max_probes: whole(200),
    /** Misses in a row before a running server is starting again (docs/reference/server-states.md#pass). */
    probe_misses: whole(3),
    probe_retry: duration("10s"),
    /** How often players of a running server are counted (docs/reference/server-states.md#probe). */
    count_interval: duration("30s"),
    /** After a join was reported the count is read again this often, for this long. */
    join_count_interval: duration("2s"),
    join_count_window: duration("10s"),
    /** After a run's first ready probe an empty server is not yet idle (docs/reference/server-states.md#idle-stop). */
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
    /** Passes that work at the same time; one that waits for RCON leaves its place to another (docs/reference/server-states.md#pass). */
    concurrency: whole(4),
    /** No pass takes longer; what is left of it is done by the next (docs/reference/server-states.md#pass). */
    pass_limit: duration("3m"),
    /** A pass that takes longer than this can only be helped by a new process: liveness fails. */
    pass_stuck: duration("10m"),
    /** All objects are listed again this often, in case a watch lost something. */
    relist: duration("10m"),

    startup_timeout: duration("300s"),
    auto_restarts: whole(3),
    /** Wait before the first automatic restart; it doubles with each. */
    auto_restart_backoff: duration("1m"),
    /** A maintenance lock that is not refreshed ends after this (docs/reference/world-lock.md#lock). */
    maintenance_lock: duration("2m"),

    default_memory: z.string().default("2Gi"),
    default_storage: z.string().default("8Gi"),
    /** Seconds of idle_default: a new user server may sit empty this long. */
    idle_default: duration("600s"),
    termination_grace: duration("300s"),
    heap_reserve_min: size("512Mi"),
    /** Image of a server that names none; the whitelist of builds must hold it. */
    default_image: z.string().min(1).default("svc.local/demo-server:1.21.4"),
    /** Claims that one replica decides at the same time; each holds a connection while it asks for limits. */
    max_claims: whole(4).pipe(z.number().min(1)),
    /** Players of a server's allowlist that are shown, the newest first. */
    allowlist_shown: whole(5_000).pipe(z.number().min(1).max(5_000)),
    /** Image with the platform's init steps; without it no init containers are added. */
    platform_image: z.string().default(""),
    /** How long a server waits for its egress policy to be enforced; then it starts all the same. */
    egress_wait: duration("30s"),
    /** What a server must reach, as `host:port`: while it does not, its network is not up yet. */
    egress_positive_probe: z.string().default("kube-dns.kube-system.svc:53"),
    /** What a server must not reach, as `host:port`; empty on a single node. */
    egress_probe: z.string().default(""),
    /**
     * File of the forwarding masters, the same as the proxy's; each server's secret is derived from it. Empty: servers
     * take players from anywhere.
     */
    forwarding_master_file: z.string().default(""),
    /** File of one secret for all servers, in place of the masters: for another proxy than ours, which knows only one. */
    forwarding_shared_file: z.string().default(""),

    /** How often due tasks are looked for (docs/reference/schedules.md#run). */
    schedule_tick: duration("15s"),
    /** Tasks that one server may have (docs/reference/settings.md). */
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

    /** Lines that a new viewer of a console sees of the past, and most lines read after nobody watched for a while. */
    console_tail: whole(100).pipe(z.number().max(1_000)),
    console_catch_up: whole(5_000),
    /** A console is followed this long after its viewers were looked at, which is each minute (docs/reference/settings.md). */
    console_linger: duration("150s"),
    /** A follower that was silent for the lease is replaced; it renews this often. */
    console_lease: duration("5s"),
    console_renew: duration("1s"),
    /** How often a log that cannot be read yet is tried again. */
    console_poll: duration("500ms"),
    /** A longer line is cut. */
    console_line_bytes: size("4Ki"),
    /** Lines of 256 bytes that one server may show: at a stretch, and as an average. */
    console_burst: whole(2_000),
    console_lines_per_second: whole(100),
    /** Waiting, connecting and the answer of one command together. */
    rcon_timeout: duration("5s"),
    /** Commands that may wait for one server. */
    rcon_waiting: whole(16),
    /** A connection without a command is closed after this. */
    rcon_idle: duration("30s"),
    rcon_reply_bytes: size("256Ki"),
    /** Pages of LuckPerms that are read at most (docs/reference/console.md#access). */
    luckperms_pages: whole(10),

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
