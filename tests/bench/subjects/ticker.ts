// lifecycle's scheduler on a real database without a cluster: its looks for due tasks, and runs that end at once
// because their server is not there.

import { loadSettings } from "@svc/config";
import { openStore } from "@svc/store";
import { createLogger, createRegistry } from "@svc/telemetry";
import { sql } from "kysely";
import { settings } from "../../../services/lifecycle/src/config.ts";
import type { Tables } from "../../../services/lifecycle/src/database/schema.ts";
import { createScheduler } from "../../../services/lifecycle/src/schedule/scheduler.ts";
import { scheduleDepsOf } from "../../../services/lifecycle/src/schedule/serve.ts";
import type { ServerDeps } from "../../../services/lifecycle/src/server/deps.ts";
import { need, serveParent } from "../harness/parent.ts";
import { quantile } from "../harness/statistics.ts";

const log = createLogger("lifecycle", "warn");
const database = openStore<Tables>({
  url: need("SVC_DATABASE_URL"),
  schema: "lifecycle",
  poolSize: 10,
  log,
});
const clock = { now: Date.parse("2026-03-02T05:00:00.000Z") };
const noCluster = {
  kube: { find: async () => undefined },
  servers: { get: () => undefined },
  mesh: { audit: () => {} },
  settings: loadSettings(settings, {}).lifecycle,
  namespace: "minecraft",
} as unknown as ServerDeps;
const registry = createRegistry("lifecycle", "bench");
const scheduler = createScheduler(
  scheduleDepsOf(
    { deps: noCluster, database, registry, log, rcon: { run: async () => "" } },
    () => clock.now,
  ),
);

/** Makes the table hold so many enabled tasks, all due within half an hour, `due` of them now. */
async function fill({ count, due }: { count: number; due: number }) {
  const now = new Date(clock.now);
  await sql`truncate server_schedules cascade`.execute(database.db);
  await sql`insert into server_schedules
      (server_name, action, command, timezone, every_minutes, next_run_at, created_by, created_at, updated_at)
    select 'bench-' || lpad((n % 10000)::text, 5, '0'), 'command', 'list', 'Europe/Berlin', 15,
      case when n <= ${due} then ${now}::timestamptz else ${now}::timestamptz + (n % 1500 + 60) * interval '1 second' end,
      'bench', ${now}, ${now}
    from generate_series(1, ${count}::int) n`.execute(database.db);
  await sql`analyze server_schedules`.execute(database.db);
}

async function tick({ times }: { times: number }) {
  const tookMs: number[] = [];
  for (let round = 0; round < times; round++) {
    const startedAt = performance.now();
    await scheduler.tick();
    tookMs.push(performance.now() - startedAt);
  }
  const { rows } = await sql<{ ran: number }>`select count(*) as ran from server_schedules
    where last_result <> ''`.execute(database.db);
  return { p50Ms: quantile(Float64Array.from(tookMs).sort(), 0.5), ran: Number(rows[0]?.ran ?? 0) };
}

serveParent({ fill, tick });
