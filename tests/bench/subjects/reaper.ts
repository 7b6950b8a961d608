// storage's daily run on a real database, with lifecycle's stand-in on the bus and no cluster: every server that is due
// still runs, so a run looks at each of them, asks for its stop, and gets no further.

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadSettings } from "@svc/config";
import { connectMesh } from "@svc/mesh";
import { migrateUp, openStore, readMigrations } from "@svc/store";
import { createLogger, createRegistry } from "@svc/telemetry";
import { sql } from "kysely";
import { presentBytes } from "../../../services/storage/src/backup/store.ts";
import { settings as schema } from "../../../services/storage/src/config.ts";
import type { Tables } from "../../../services/storage/src/database/tables.ts";
import { createStorageMetrics } from "../../../services/storage/src/metrics.ts";
import { decideVolume } from "../../../services/storage/src/reaper/decide.ts";
import { planEviction } from "../../../services/storage/src/reaper/evict-plan.ts";
import { createReaperMetrics } from "../../../services/storage/src/reaper/metrics.ts";
import { createReaper, type ReaperDeps } from "../../../services/storage/src/reaper/reaper.ts";
import { findRun } from "../../../services/storage/src/reaper/run-store.ts";
import { findEvictable, findLastSize, findReapBackups } from "../../../services/storage/src/reaper/store.ts";
import { root, runSql } from "../harness/anchors.ts";
import { dueWorld, worldName } from "../harness/due-worlds.ts";
import { need, serveParent } from "../harness/parent.ts";

const admin = new URL(need("SVC_DATABASE_URL"));
await runSql(admin.href, "create database reaper");
admin.pathname = "/reaper";
const migrations = readMigrations(join(root, "services/storage/migrations"));
await migrateUp(admin.href, { schema: "storage", rolePassword: "bench", migrations });
const log = createLogger("storage", "silent");
const { db } = openStore<Tables>({ url: admin.href, schema: "storage", poolSize: 10, log });
const mesh = await connectMesh({
  service: "storage",
  url: need("SVC_NATS_URL"),
  user: "storage",
  password: need("SVC_NATS_PASSWORD"),
  version: "bench",
  log,
});
const registry = createRegistry("storage", "bench");
const local_path = mkdtempSync(join(tmpdir(), "svc-bench-reaper-"));
const deps: ReaperDeps = {
  mesh,
  db,
  kube: {} as ReaperDeps["kube"],
  settings: loadSettings(schema, {
    overrides: ["storage.agent_image=svc.local/world-agent", `archive.local_path=${local_path}`],
  }),
  metrics: createStorageMetrics(registry),
  reaperMetrics: createReaperMetrics(registry),
  log,
  now: Date.now,
};

/** Four backups of each of so many servers, read back this week. */
async function fill({ count }: { count: number }): Promise<void> {
  await sql`truncate world_backups cascade`.execute(db);
  await sql`insert into world_backups
      (id, server_name, former_owner, backup_ref, size_bytes, reason, created_at, expires_at, sha256, verified_at)
    select 'bk-' || n, 'due-' || lpad((n % ${count}::int)::text, 5, '0'), 'usr-' || n % ${count}::int,
      '/archive/due-' || n || '.tar.zst', 1000000, (array['manual', 'scheduled', 'inactive_15d', 'manual'])[n % 4 + 1],
      now() - n * interval '1 minute', now() + interval '60 days', repeat('0', 64), now()
    from generate_series(1, ${4 * count}::int) n`.execute(db);
  await sql`analyze world_backups`.execute(db);
}

/** One whole run over servers that are due. */
async function run(): Promise<{ seconds: number; looked: number }> {
  const reaper = createReaper(deps);
  const startedAt = performance.now();
  const { id } = await reaper.start({ startedBy: "bench", retentionOnly: false });
  await reaper.idle();
  const seconds = (performance.now() - startedAt) / 1_000;
  await reaper.close();
  const row = await findRun(db, id);
  return { seconds, looked: Number((row?.summary as { awaiting_stop?: number })?.awaiting_stop ?? 0) };
}

const max = 1e12;

/** What is decided of each of them once it is at rest: from which archive, and whether there is room for a new one. */
async function decide({ count }: { count: number }): Promise<{ seconds: number }> {
  const startedAt = performance.now();
  for (let index = 0; index < count; index += 1) {
    const name = worldName(index);
    const backups = await findReapBackups(db, name);
    decideVolume(dueWorld(index), { outcome: "reclaimed", hasVolume: true, backups });
    const [{ bytes }, need] = await Promise.all([presentBytes(db), findLastSize(db, name)]);
    planEviction({ used: bytes, need, max }, []);
  }
  return { seconds: (performance.now() - startedAt) / 1_000 };
}

/** What goes from a full store. */
async function choose(): Promise<{ ms: number }> {
  const startedAt = performance.now();
  const { used, candidates } = await findEvictable(db, { live: new Map(), confirmedSince: new Date() });
  planEviction({ used, need: used / 2, max: used }, candidates);
  return { ms: performance.now() - startedAt };
}

serveParent({ fill, run, decide, choose });
