// Webhooks of a server as they may look after an evening: one whose messages arrive, one whose receiver has an old certificate.

import pg from "pg";
import type { Stack } from "../../flow/stack.ts";
import type { Send } from "./content.ts";

const events = ["server.ready", "server.crashed", "player.joined", "backup.failed"];
const wanted = [
  { label: "Friends on Discord", format: "discord", url: "https://discord.example.net/api/webhooks/1/x" },
  { label: "Statistics", format: "json", url: "https://stats.example.net/svc" },
];

/** Newest last; the numbers are minutes ago. */
const deliveries: readonly [label: string, type: string, minutes: number, state: string, error?: string][] = [
  ["Friends on Discord", "server.ready", 190, "delivered"],
  ["Friends on Discord", "player.joined", 184, "delivered"],
  ["Friends on Discord", "player.joined", 61, "delivered"],
  ["Statistics", "server.ready", 190, "dead", "its certificate has expired"],
  ["Statistics", "player.joined", 61, "delivered"],
];

export async function fillWebhooks(stack: Stack, send: Send, server: string): Promise<void> {
  for (const webhook of wanted)
    await send("POST", `/servers/${server}/webhooks`, { ...webhook, events, language: "en" });
  const client = new pg.Client(stack.file().database_url);
  await client.connect();
  try {
    for (const [at, [label, type, minutes, state, error = null]] of deliveries.entries())
      await client.query(
        `insert into ops_watchdog.webhook_deliveries (id, webhook_id, event_id, type, server_name, lane, data, at, created_at,
           attempted_at, finished_at, state, attempts, status, error)
         select 'dlv_' || $1::text, id, 'evt_' || $1::text, $2, $3, $3, '{}', seen, seen, seen, seen, $4, $5, $6, $7
         from ops_watchdog.webhooks, (select now() - make_interval(mins => $8) as seen) given where label = $9`,
        [at, type, server, state, error === null ? 1 : 8, error === null ? 204 : null, error, minutes, label],
      );
    await client.query(
      "update ops_watchdog.webhooks set last_attempt_at = now() - interval '61 minutes', last_attempt_ok = true, last_attempt_status = 204",
    );
  } finally {
    await client.end();
  }
}
