// The reaper on a real PostgreSQL and a cluster that runs the shipped agent; lifecycle and identity answer over NATS.

import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { loadSettings } from "@svc/config";
import { connectKube, resources } from "@svc/kube";
import type { Mesh } from "@svc/mesh";
import { notices } from "@svc/proto";
import { createLogger, createRegistry } from "@svc/telemetry";
import { settings as schema } from "../../config.ts";
import type { RunRow } from "../../database/reaper-runs.ts";
import type { BackupRow, Tables } from "../../database/tables.ts";
import { createStorageMetrics } from "../../metrics.ts";
import { createReaperMetrics } from "../../reaper/metrics.ts";
import { createReaper, type ReaperDeps } from "../../reaper/reaper.ts";
import { findRun } from "../../reaper/run-store.ts";
import { toReaperRun } from "../../reaper/view.ts";
import { type Fixture, openFixture, quick, type StartCluster } from "../fixture.ts";
import { namespace } from "../worlds.ts";

export const day = 86_400_000;

export type ReaperFixture = {
  base: Fixture;
  /** Mails by user; `answer` sets the response to them. */
  letters: { user: string; kind: string }[];
  mail: { answer: "delivered" | "suppressed" | "down" };
  clock: { aheadMs: number };
  depsOf: (overrides?: readonly string[]) => ReaperDeps;
  /** One complete run in its own process; `change` wraps its dependencies. */
  runOnce: (options?: RunOptions) => Promise<RunReport>;
  /** A stopped server with an owner, idle for 16 days. */
  addIdle: (name: string, about?: { owner?: string; files?: Record<string, string> }) => Promise<void>;
  backupsOf: (name: string) => Promise<BackupRow[]>;
  hasVolume: (name: string) => Promise<boolean>;
  archives: () => string[];
  /** True when the archive of a present backup of the server exists byte for byte. */
  isArchived: (name: string) => Promise<boolean>;
  /** Starts the service again with these settings. */
  restart: (overrides: readonly string[]) => Promise<void>;
  close: () => Promise<void>;
};

type RunOptions = {
  overrides?: readonly string[];
  retentionOnly?: boolean;
  change?: (deps: ReaperDeps) => ReaperDeps;
};

type RunReport = ReturnType<typeof toReaperRun>;

export async function openReaperFixture(cluster?: StartCluster): Promise<ReaperFixture> {
  const base = await openFixture({ agent: "shipped", ...(cluster && { cluster }) });
  const start = (overrides: readonly string[] = []) =>
    base.start([`archive.local_path=${base.archiveDir}`, ...overrides]);
  let replica = await start();
  const clock = { aheadMs: 0 };
  const letters: ReaperFixture["letters"] = [];
  const mail: ReaperFixture["mail"] = { answer: "delivered" };
  serveMail(base.identity, { letters, mail });
  await base.identity.announce();
  const mesh = await base.nats.connect("storage");
  const store = base.database.open<Tables>({ url: base.wire.url });
  const kube = connectKube({ kubeconfigFile: join(base.archiveDir, "../kubeconfig.storage") });
  const depsOf = (overrides: readonly string[] = []) =>
    reaperDeps({ kube, mesh, db: store.db, clock, archiveDir: base.archiveDir }, overrides);
  const backupsOf = (name: string) =>
    store.db
      .selectFrom("world_backups")
      .selectAll()
      .where("server_name", "=", name)
      .orderBy("created_at", "desc")
      .execute();
  const digestOf = (path: string) => createHash("sha256").update(readFileSync(path)).digest("hex");
  return {
    base,
    letters,
    mail,
    clock,
    depsOf,
    runOnce: async ({ overrides = [], retentionOnly = false, change = (deps: ReaperDeps) => deps } = {}) => {
      const reaper = createReaper(change(depsOf(overrides)));
      const row = await reaper.start({ startedBy: "test", retentionOnly });
      await reaper.idle();
      return toReaperRun((await findRun(store.db, row.id)) as RunRow);
    },
    addIdle: async (name, { owner, files } = {}) => {
      await base.addServer(name, owner, files ?? { "level.dat": name, "region/r.0.0.mca": `${name} chunks` });
      base.servers.lastActive.set(name, new Date(Date.now() - 16 * day));
    },
    backupsOf,
    hasVolume: async (name) =>
      (await base.kube.find(resources.claims, { name: `world-${name}-0`, namespace })) !== undefined,
    archives: () => readdirSync(base.archiveDir).filter((name) => /\.tar\.(zst|gz)$/.test(name)),
    isArchived: async (name) => {
      const rows = (await backupsOf(name)).filter(
        ({ status, corrupt_at }) => status === "present" && !corrupt_at,
      );
      return rows.some(({ backup_ref, sha256 }) => existsSync(backup_ref) && digestOf(backup_ref) === sha256);
    },
    restart: async (overrides) => {
      await replica.stop();
      replica = await start(overrides);
    },
    close: async () => {
      kube.close();
      await mesh.drain(500);
      await store.close();
      await base.close();
    },
  };
}

function serveMail(identity: Mesh, { letters, mail }: Pick<ReaperFixture, "letters" | "mail">): void {
  identity.serve(notices.sendNotice, (context, { user_id, kind }) => {
    if (mail.answer === "down") throw context.fault("mail_undeliverable");
    if (mail.answer === "delivered") letters.push({ user: user_id, kind });
    return { result: mail.answer };
  });
}

type Ground = Pick<ReaperDeps, "kube" | "mesh" | "db"> &
  Pick<ReaperFixture, "clock"> & { archiveDir: string };

function reaperDeps({ clock, archiveDir, ...ground }: Ground, overrides: readonly string[]): ReaperDeps {
  const registry = createRegistry("storage", "test");
  const base = [...quick, "storage.job_cpu=1m", `archive.local_path=${archiveDir}`];
  return {
    ...ground,
    settings: loadSettings(schema, { overrides: [...base, ...overrides] }),
    metrics: createStorageMetrics(registry),
    reaperMetrics: createReaperMetrics(registry),
    log: createLogger("storage", "silent"),
    now: () => Date.now() + clock.aheadMs,
  };
}
