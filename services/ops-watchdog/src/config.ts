// Settings of ops-watchdog (docs/reference/settings.md).

import { duration, offsiteSection, section } from "@svc/config";
import { smtpSection } from "@svc/smtp";
import { z } from "zod";

/** What can be updated, in the order of a report. */
export const componentNames = ["platform", "proxy", "postgresql", "nats", "node", "kubernetes"] as const;
export type ComponentName = (typeof componentNames)[number];

const feed = z
  .string()
  .regex(/^$|^https?:\/\/\S{1,500}$/, "must be empty or an http or https address")
  .default("");
const address = z.string().regex(/^$|^\S{1,253}:\d{1,5}$/, "must be host:port");
const channel = z.strictObject({
  name: z.string().regex(/^[a-z0-9-]{1,32}$/, "must be 1 to 32 of a-z, 0-9 and -"),
  format: z.enum(["json", "discord"]).default("json"),
  /** Environment variable with its address, which is a secret. */
  url_ref: z.string().min(1),
  /** Environment variable with the key that signs what is sent; empty = unsigned. */
  secret_ref: z.string().default(""),
});
const keep = (fallback: number) => z.number().int().min(1).max(1_000).default(fallback);
const dailyAt = (fallback: string) =>
  z
    .string()
    .regex(/^([01]\d|2[0-3]):[0-5]\d$/, "must be a time of day such as 03:30")
    .default(fallback);

export const settings = z.strictObject({
  k8s: section({
    namespace: z.string().min(1).default("minecraft"),
    egress_mode: z.enum(["loadbalancer", "nodeport"]).default("loadbalancer"),
    metallb_pool: z.string().default(""),
  }),
  server: section({
    listen: z.string().optional(),
    root_domain: z.string().regex(/\./, "must be a domain with a dot in it").default("svc.localhost"),
  }),
  smtp: smtpSection,
  offsite: offsiteSection,
  ops_watchdog: section({
    /** Folder of the database bundles, 0700. */
    bundle_dir: z.string().startsWith("/").default("/var/lib/svc/db-backups"),
    /** When the daily bundle is taken, UTC. */
    bundle_at: dailyAt("03:30"),
    /** A daily bundle is delayed by up to this much, so that installations do not work at the same minute. */
    bundle_jitter: duration("15m"),
    /** Pause after a daily bundle that failed. */
    bundle_retry: duration("1h"),
    /** Age of the newest daily bundle above which backups are stale. */
    bundle_max_age: duration("26h"),
    /** Daily bundles that are kept. */
    keep_daily: keep(14),
    /** Bundles before migrations that are kept. */
    keep_pre_migrate: keep(10),
    /** Bundles before restores that are kept. */
    keep_pre_restore: keep(5),
    /** Bundles with the times of off-site copies that are kept. */
    keep_offsite: keep(1),
    /** How often each bundle is read to its last row; 0s = never. */
    verify_every: duration("7d"),
    /** How often the newest bundle is restored into a scratch database; 0s = never. */
    rehearsal_every: duration("7d"),
    /** Environment variable with the URL of a server for rehearsals; empty = the server of the database. */
    rehearsal_url_ref: z.string().default(""),
    /** Whether the write-ahead log of the database is archived, so that it can be restored to a point in time. */
    wal_archive: z.boolean().default(false),
    /** Folder of that archive, 0700. */
    wal_dir: z.string().startsWith("/").default("/var/lib/svc/wal"),
    /** How far back a point in time can be at least, once the archive is that old. */
    wal_keep: duration("7d"),
    /** How often a base backup is taken, from which the log is applied. */
    base_backup_every: duration("1d").pipe(z.number().min(60_000)),
    /** Environment variable with the URL of a role with REPLICATION; empty = the role of ops-watchdog. */
    replication_url_ref: z.string().default(""),
    /** Age of what was last received above which the archive is stale. */
    wal_max_age: duration("15m"),
    /** Pause between a start and the first periodic work. */
    first_tick: duration("5m"),
    /** Pause between two rounds of periodic work. */
    tick: duration("1m"),
    /** When updates are checked, UTC. */
    update_at: dailyAt("05:30"),
    /** Age above which an update report is stale. */
    report_max_age: duration("26h"),
    /** Longest wait for one feed. */
    feed_timeout: duration("10s"),
    /** Feed of svc itself; empty = unknown. */
    feed_platform: feed,
    /** Feed of the proxy. */
    feed_proxy: feed,
    /** Feed of PostgreSQL. */
    feed_postgresql: feed,
    /** Feed of nats-server. */
    feed_nats: feed,
    /** Feed of Node. */
    feed_node: feed,
    /** Feed of Kubernetes. */
    feed_kubernetes: feed,
    /** How often the platform is checked; 0s = never, where a timer of the host runs `svc watchdog`. */
    watch_every: duration("2m"),
    /** Pause between a start and the first check. */
    watch_first: duration("1m"),
    /** Folder of the state of the watchdog, on a volume of its own. */
    state_dir: z.string().startsWith("/").default("/var/lib/svc/watchdog"),
    /** Folder in memory that is used while that one cannot be written. */
    state_copy_dir: z.string().startsWith("/").default("/dev/shm/svc-watchdog"),
    /** File with a Unix time in seconds until which nothing is sent, for use during an installation; empty = none. */
    quiet_file: z.string().default(""),
    /** File with the address of a heartbeat service; empty = none. */
    heartbeat_url_file: z.string().default(""),
    /** Longest time of one mail of the watchdog at the relay. */
    watch_mail_timeout: duration("20s"),
    /** Services that must answer. */
    expected_services: z
      .array(z.string().min(1).max(64))
      .default(["lifecycle", "storage", "builds", "identity", "gateway-internal", "gateway-external"]),
    /** Health ports as `name=http://host:port`, asked while NATS is away. */
    health_urls: z
      .array(z.string().regex(/^[a-z-]{1,64}=https?:\/\/[^\s/]{1,200}\/?$/, "must be name=http://host:port"))
      .default([]),
    /** File of a local stack that names its processes and their ports; empty = none. */
    processes_file: z.string().default(""),
    /** Folders whose disks are watched, beside those of bundles and of the state. */
    watched_dirs: z.array(z.string().startsWith("/")).default([]),
    /** Game port of the proxy, host:port; empty = not watched. */
    game_address: address.default(""),
    /** Servers whose certificates are watched, host:port. */
    tls_addresses: z.array(address).default([]),
    /** Channels that notify staff in addition to mail: `{ name, format = "json" or "discord", url_ref, secret_ref }`. */
    channels: z.array(channel).max(10).default([]),
    /** Longest wait for one channel. */
    channel_timeout: duration("10s"),
    /** Whether channels may have internal addresses, and plain http. */
    channels_may_be_internal: z.boolean().default(false),
    /** Webhooks that a server may have. */
    webhooks_per_server: z.number().int().min(0).max(50).default(5),
    /** Webhooks that the installation may have. */
    webhooks_of_platform: z.number().int().min(0).max(100).default(20),
    /** Ports of public hosts that webhooks may have. */
    webhook_ports: z.array(z.number().int().min(1).max(65_535)).min(1).max(20).default([443]),
    /** Origins inside that webhooks may have, such as `http://chat.internal:8065`: anybody with a server can post there. */
    webhook_inside: z
      .array(z.string().regex(/^https?:\/\/[^\s/@?#]{1,253}$/, "must be an origin such as http://host:port"))
      .max(20)
      .default([]),
    /** Longest time of one attempt to deliver to a webhook, at most 20s. */
    webhook_timeout: duration("10s").pipe(z.number().min(100).max(20_000)),
    /** A webhook to which nothing has arrived for so long is switched off. */
    webhook_off_after: duration("3d"),
    /** How often alerts for webhooks are looked for. */
    webhook_alerts_every: duration("10s"),
    /** Components that stay at their version. */
    pinned: z.array(z.enum(componentNames)).default([]),
  }),
});
export type Settings = z.output<typeof settings>;
export type OffsiteSettings = Settings["offsite"];
export type WatchdogSettings = Settings["ops_watchdog"];

/** Variables that settings name: passwords, and addresses that are secrets. */
export function environment(): NodeJS.ProcessEnv {
  return process.env;
}
