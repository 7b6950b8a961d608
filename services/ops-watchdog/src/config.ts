// Settings of ops-watchdog (docs/reference/settings.md).

import { duration, offsiteSection, section } from "@svc/config";
import { z } from "zod";

/** What can be updated, in the order of a report. */
export const componentNames = ["platform", "proxy", "postgresql", "nats", "node", "kubernetes"] as const;
export type ComponentName = (typeof componentNames)[number];

const feed = z
  .string()
  .regex(/^$|^https?:\/\/\S{1,500}$/, "must be empty or an http or https address")
  .default("");
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
    /** Components that stay at their version. */
    pinned: z.array(z.enum(componentNames)).default([]),
  }),
});
export type Settings = z.output<typeof settings>;
export type OffsiteSettings = Settings["offsite"];
export type WatchdogSettings = Settings["ops_watchdog"];
