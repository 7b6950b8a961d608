// Every setting of lifecycle, with the default that the specification gives.

import { duration, section, size } from "@svc/config";
import { z } from "zod";

const whole = (fallback: number) => z.number().int().min(0).default(fallback);

/** Sections as in docs/reference/settings.md; in a shared section, keys that this service does not read are accepted. */
export const settings = z.object({
  server: section({
    listen: z.string().default("0.0.0.0:8080"),
    root_domain: z.string().default("svc.localhost"),
  }),
  k8s: section({
    /** Namespace of game servers and their Jobs. */
    namespace: z.string().min(1).default("minecraft"),
    /** Reserved; nothing reads it yet. */
    egress_mode: z.enum(["loadbalancer", "nodeport"]).default("loadbalancer"),
    /** Reserved; nothing reads it yet. */
    metallb_pool: z.string().default(""),
  }),
  lifecycle: section({
    /** Least time between two wakes of one server (docs/reference/wake.md#checks). */
    wake_cooldown: duration("30s"),
    /** Servers that may run at the same time; 0 means no limit. */
    max_running_servers: whole(0),

    /** Time between the two notices before a stop with players online (docs/reference/server-states.md#phases). */
    stop_notice: duration("30s"),
    /** Longest wait for the reply to `save-all flush` (docs/reference/server-states.md#probe). */
    save_timeout: duration("30s"),
    /** Longest RCON probe. */
    probe_timeout: duration("5s"),
    /** Probes at the same time (docs/performance.md). */
    max_probes: whole(200),
    /** Failed probes in a row before a running server is Starting again (docs/reference/server-states.md#pass). */
    probe_misses: whole(3),
    /** Pause before a failed probe of a running server is repeated. */
    probe_retry: duration("10s"),
    /** How often players of a running server are counted (docs/reference/server-states.md#probe). */
    count_interval: duration("30s"),
    /** After a reported join players are counted this often. */
    join_count_interval: duration("2s"),
    /** For this long after a reported join. */
    join_count_window: duration("10s"),
    /** For this long after the first successful probe of a run an empty server is not idle (docs/reference/server-states.md#idle-stop). */
    arrival_window: duration("3m"),
    /** Probes of a running server use a cached password for this long. */
    password_ttl: duration("5m"),

    /** Requeue of a server that starts. */
    reconcile_starting: duration("2s"),
    /** Requeue of a server that stops. */
    reconcile_stopping: duration("5s"),
    /** Requeue of a server that waits for a Secret. */
    reconcile_secret: duration("10s"),
    /** Requeue of a server under a maintenance lock. */
    reconcile_maintenance: duration("5s"),
    /** Requeue of a server that runs. */
    reconcile_running: duration("60s"),
    /** Requeue of a server that has failed. */
    reconcile_failed: duration("5m"),
    /** Requeue of a server whose node is gone or not approved. */
    reconcile_node: duration("10s"),
    /** Passes that work at the same time; a pass that waits for RCON releases its slot (docs/reference/server-states.md#pass). */
    concurrency: whole(4),
    /** Longest pass; the next one does what is left (docs/reference/server-states.md#pass). */
    pass_limit: duration("3m"),
    /** When a pass takes longer than this, liveness fails so that the process is restarted. */
    pass_stuck: duration("10m"),
    /** All objects are listed again this often, in case a watch missed a change. */
    relist: duration("10m"),

    /** Time within which a server must become ready, unless it names its own. */
    startup_timeout: duration("300s"),
    /** Automatic restarts after failed starts. */
    auto_restarts: whole(3),
    /** Wait before the first automatic restart; doubles with each one. */
    auto_restart_backoff: duration("1m"),
    /** A maintenance lock that is not refreshed expires after this (docs/reference/world-lock.md#lock). */
    maintenance_lock: duration("2m"),

    /** Memory of a new server that names none. */
    default_memory: z.string().default("2Gi"),
    /** World volume of a new server that names none. */
    default_storage: z.string().default("8Gi"),
    /** A new user server may be empty for this long. */
    idle_default: duration("600s"),
    /** Shortest idle stop that an owner may set (docs/reference/claims.md#settings). */
    owner_idle_min: duration("60s"),
    /** Longest idle stop that an owner may set. */
    owner_idle_max: duration("6h"),
    /** Whether an owner may switch idle stop off. */
    owner_idle_off: z.boolean().default(false),
    /** How far ahead a server may be kept awake (docs/reference/server-states.md#keep-awake). */
    keep_awake_longest: duration("7d").pipe(z.number().min(3_600_000)),
    /** Servers of one account that its people may keep awake at the same time; operators may keep more. */
    keep_awake_servers: whole(2),
    /** Time that a stopping server gets before it is killed, unless it names its own. */
    termination_grace: duration("300s"),
    /** Memory left to a server beside Java's heap, at least. */
    heap_reserve_min: size("512Mi"),
    /**
     * Image of a server that names none, while no other tag of its repository suits more players
     * (docs/reference/images.md#versions); it must be on the whitelist of builds.
     */
    default_image: z.string().min(1).default("svc.local/demo-server:1.21.4"),
    /** Claims that one replica handles at the same time; each uses a database connection while it reads limits. */
    max_claims: whole(4).pipe(z.number().min(1)),
    /** Servers that an account may make from templates, also those that it gave up (docs/reference/server-templates.md#use). */
    servers_made_per_account: whole(3).pipe(z.number().max(1_000)),
    /** Accounts that one server may be shared with (docs/reference/shared-access.md#operations). */
    members_per_server: whole(50).pipe(z.number().max(200)),
    /** Open invitations to one server. */
    invitations_per_server: whole(50).pipe(z.number().max(200)),
    /** Invitations that an account may look at, accept, decline or mail within a minute, over all replicas. */
    invitation_attempts: whole(20).pipe(z.number().min(1)),
    /** How often mails about crashes that are due are sent (docs/reference/crashes.md#mail). */
    crash_mail_interval: duration("15s"),
    /** An owner gets at most one mail about crashes of a server in this time. */
    crash_mail_pause: duration("1d"),
    /** Accesses whose end has come are deleted this often; they open nothing from that end on. */
    access_sweep: duration("10s"),
    /** Ended invitations are deleted after this. */
    invitation_keep: duration("30d"),
    /** Players of a server's allowlist that are shown, the newest first. */
    allowlist_shown: whole(5_000).pipe(z.number().min(1).max(5_000)),
    /** Image with the platform's init containers; empty: none are added. */
    platform_image: z.string().default(""),
    /** How long a server waits for its egress policy to be enforced; then its start fails and is tried again. */
    egress_wait: duration("30s"),
    /** Addresses that a server must reach, as `host:port`: until then its network is not up. */
    egress_positive_probe: z.string().default("kube-dns.kube-system.svc:53"),
    /** Addresses that a server must not reach, as `host:port`; empty on a single node. */
    egress_probe: z.string().default(""),
    /** Whether a server starts although its egress policy is not enforced after that time. */
    egress_fail_open: z.boolean().default(false),
    /**
     * File of the forwarding masters, the same as the proxy's; each server's secret is derived from it. Empty: servers
     * accept players from anywhere.
     */
    forwarding_master_file: z.string().default(""),
    /** File of one secret for all servers instead of masters, for a third-party proxy, which knows only one. */
    forwarding_shared_file: z.string().default(""),

    /** How often due tasks are searched for (docs/reference/schedules.md#run). */
    schedule_tick: duration("15s"),
    /** Tasks that one server may have (docs/reference/settings.md). */
    schedule_limit: whole(20),
    /** A run that is late by more than this is missed. */
    schedule_missed_after: duration("10m"),
    /** A run left in its claim for longer than this has failed. */
    schedule_claim_patience: duration("2m"),
    /** How long a run waits for a server to stop. */
    schedule_stop_wait: duration("15m"),
    /** How long a run waits for its backup to end. */
    schedule_backup_wait: duration("45m"),
    /** How long a run waits for a backup that storage does not know. */
    schedule_backup_appear: duration("2m"),
    /** How long a run retries a refused start. */
    schedule_start_wait: duration("15m"),
    /** A run started by hand is answered after this at the latest. */
    schedule_first_step: duration("30s"),
    /** Tasks that one replica works on at the same time. */
    schedule_concurrency: whole(32).pipe(z.number().min(1)),

    /** Past lines that a new viewer of a console gets, and the limit after a time without viewers. */
    console_tail: whole(100).pipe(z.number().max(1_000)),
    /** Past lines read after an interruption, at most. */
    console_catch_up: whole(5_000),
    /** A log is followed for this long after the last check of its viewers, which is each minute. */
    console_linger: duration("150s"),
    /** A follower that has not renewed its lease for this long is replaced. */
    console_lease: duration("5s"),
    /** How often a follower renews its lease. */
    console_renew: duration("1s"),
    /** How often reading an unavailable log is retried. */
    console_poll: duration("500ms"),
    /** A longer line is cut. */
    console_line_bytes: size("4Ki"),
    /** Lines of 256 bytes that one server may print at once. */
    console_burst: whole(2_000),
    /** The same each second on average. */
    console_lines_per_second: whole(100),
    /** Timeout of one command, including the queue and connecting. */
    rcon_timeout: duration("5s"),
    /** Queue of commands for one server. */
    rcon_waiting: whole(16),
    /** A connection without a command is closed after this. */
    rcon_idle: duration("30s"),
    /** Longest reply to one command. */
    rcon_reply_bytes: size("256Ki"),
    /** Limit of pages read from LuckPerms (docs/reference/console.md#access). */
    luckperms_pages: whole(10),

    /** How often players, memory and processor of running servers are sampled (docs/reference/history.md#sampling). */
    history_sample: duration("1m"),
    /** Servers that are asked for their ticks at the same time. */
    history_tick_queries: whole(16).pipe(z.number().min(1)),

    /** How often announcements are looked at (docs/reference/announcements.md#game). */
    announcement_tick: duration("5s"),
    /** Players are not told in the game of what began longer ago. */
    announcement_late: duration("2m"),
    /** Announcements that may be planned or current. */
    announcement_limit: whole(20).pipe(z.number().min(1).max(100)),
    /** Announcements are deleted so long after they are over. */
    announcement_keep: duration("90d"),

    /** How often the runs of groups go on while one is under way (docs/reference/groups.md#run). */
    group_tick: duration("2s"),
    /** Groups that the leader works on at the same time. */
    group_concurrency: whole(16).pipe(z.number().min(1)),

    /** How often status pages are written (docs/reference/status-pages.md#public). */
    status_page_tick: duration("5s"),

    /** Servers forget a player who has not come for this long (docs/reference/players.md#kept). */
    player_keep: duration("365d").pipe(z.number().min(86_400_000)),
    /** Players that one server knows; of more than these those who came last. */
    players_per_server: whole(10_000).pipe(z.number().min(100).max(1_000_000)),
    /** Notes about one player at one server. */
    player_notes: whole(20).pipe(z.number().max(100)),
    /** How often players are forgotten whose time has come. */
    player_sweep: duration("1h"),

    /** A leader that has not renewed its Lease for this long is replaced. */
    lease_duration: duration("6s"),
    /** How often a leader renews it. */
    lease_renew: duration("2s"),
    /** Entries of one page of a list over the mesh. */
    list_page: whole(500).pipe(z.number().min(1).max(1_000)),
  }),
});

type Settings = z.output<typeof settings>;
export type LifecycleSettings = Settings["lifecycle"];

/** The kubeconfig of this process; undefined inside a pod, which has a service account. */
export function kubeconfigFile(): string | undefined {
  return process.env["SVC_KUBECONFIG"] || undefined;
}
