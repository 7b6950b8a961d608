// Everything that webhooks do by themselves: intake, sending, retention, mails, figures.

import type { Mesh } from "@svc/mesh";
import { startLoop } from "@svc/service/loop";
import type { Logger, Registry } from "@svc/telemetry";
import { sql } from "kysely";
import type { Settings } from "../config.ts";
import type { WatchdogDb } from "../database.ts";
import type { StateFile } from "../watchdog/state-file.ts";
import { type Resolve, resolvePublic } from "./address.ts";
import { takeAlerts, takeEvents } from "./intake.ts";
import { createWebhookMetrics } from "./metrics.ts";
import { sendNotices } from "./notice.ts";
import { sweep } from "./queue.ts";
import { startSender } from "./sender.ts";
import { serveWebhooks } from "./serve.ts";

type WebhookDeps = {
  settings: Settings;
  db: WatchdogDb;
  mesh: Pick<Mesh, "serve" | "call" | "consume">;
  file: Pick<StateFile, "read">;
  registry: Registry;
  log: Logger;
  /** DNS, unless a test answers. */
  resolve?: Resolve | undefined;
  /** Called at the steps of an attempt; a test ends the process there. */
  step?: ((name: "picked" | "sent") => void) | undefined;
};

const figuresEveryMs = 30_000;
const sweepEveryMs = 600_000;

export async function startWebhooks(deps: WebhookDeps): Promise<{ close: () => Promise<void> }> {
  const { settings, db, mesh, file, registry, log, resolve = resolvePublic, step } = deps;
  const own = settings.ops_watchdog;
  const metrics = createWebhookMetrics(registry);
  const reach = { ports: own.webhook_ports, inside: own.webhook_inside };
  const installation = settings.server.root_domain;
  const sender = startSender({
    ...{ db, mesh, metrics, log, step },
    sending: { reach, resolve, withinMs: own.webhook_timeout, installation },
    turnOffAfterMs: own.webhook_off_after,
  });
  const limits = { server: own.webhooks_per_server, platform: own.webhooks_of_platform };
  serveWebhooks({ db, mesh, reach, limits, onQueued: sender.ring });
  const intake = { db, onQueued: sender.ring, log };
  await takeEvents({ ...intake, mesh });
  const alerts = takeAlerts(intake, { file, everyMs: own.webhook_alerts_every });
  const about = (what: string) => (error: Error) =>
    log.warn({ error: error.message }, `${what} of webhooks failed; retrying`);
  const sweeping = startLoop(() => sweep(db), { everyMs: sweepEveryMs, onError: about("retention") });
  const figures = startLoop(
    async (signal) => {
      metrics.show(await readFigures(db));
      await sendNotices({ db, mesh, log }, signal);
    },
    { everyMs: figuresEveryMs, onError: about("figures") },
  );
  return {
    close: async () => {
      await Promise.all([alerts.close(), sweeping.close(), figures.close()]);
      await sender.close();
    },
  };
}

async function readFigures(db: WatchdogDb): Promise<{ waiting: number; oldestSeconds: number; off: number }> {
  const { rows } = await sql<{ waiting: number; oldest: number; off: number }>`select
    (select count(*)::int from webhook_deliveries d join webhooks w on w.id = d.webhook_id
      where d.state = 'waiting' and w.enabled) as waiting,
    (select coalesce(extract(epoch from now() - min(d.created_at)), 0)::float8
      from webhook_deliveries d join webhooks w on w.id = d.webhook_id
      where d.state = 'waiting' and d.attempts = 0 and w.enabled and w.failing_since is null) as oldest,
    (select count(*)::int from webhooks where off_reason in ('gone', 'failing', 'access_ended')) as off`.execute(
    db,
  );
  const [row] = rows;
  return { waiting: row?.waiting ?? 0, oldestSeconds: row?.oldest ?? 0, off: row?.off ?? 0 };
}
