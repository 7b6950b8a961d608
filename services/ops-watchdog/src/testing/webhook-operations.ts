// What people and services do with webhooks in tests.

import { account } from "@svc/mesh/testing";
import { type InputOf, players, webhooks } from "@svc/proto";
import type { WebhookFixture } from "./webhook-fixture.ts";

export const owner = account("usr-1");

type Creating = Partial<InputOf<typeof webhooks.create>>;

export function createWebhookOperations(fixture: () => WebhookFixture) {
  /** No webhook, and two servers of the owner. */
  const reset = async () => {
    await fixture().sql("delete from ops_watchdog.webhooks");
    fixture().sharing.clear();
    fixture().sharing.set("survival", { owner_id: "usr-1", members: [] });
    fixture().sharing.set("creative", { owner_id: "usr-1", members: [] });
    fixture().isLifecycleAway = false;
    fixture().mails.length = 0;
    for (const receiver of fixture().receivers) {
      receiver.received.length = 0;
      receiver.answer = undefined;
    }
  };
  const create = (more: Creating = {}, as = owner) =>
    fixture().gateway.call(
      webhooks.create,
      {
        ...{ name: "survival", label: "Chat", events: ["player.joined", "server.ready"] },
        ...{ url: `${fixture().receivers[0].url}/hook`, format: "json", language: "en", ...more },
      },
      as,
    );
  const list = (as = owner, name = "survival") => fixture().gateway.call(webhooks.list, { name }, as);
  const deliveries = async (id: string, name = "survival") =>
    (await fixture().gateway.call(webhooks.listDeliveries, { name, id, limit: 100, offset: 0 }, owner))
      .deliveries;
  const joined = (player_name: string, name = "survival", id?: string) =>
    fixture().publish(
      players.playerJoined,
      { name, mc_uuid: "069a79f4-44e9-4726-a5be-fca90e38aaf5", player_name, at: new Date().toISOString() },
      id,
    );
  const namesAt = (receiver: number) =>
    fixture().receivers[receiver]?.received.map(({ body }) => JSON.parse(body).data.player_name);
  /** Brings the next attempts forward. */
  const hurry = async ({ id, label, events }: webhooks.Webhook, as = owner) => {
    await fixture().sql("update ops_watchdog.webhook_deliveries set due_at = now(), lease_until = null");
    const kept = events as ("player.joined" | "server.ready")[];
    const body = { name: "survival", id, label, events: kept, language: "en", enabled: true } as const;
    return fixture().gateway.call(webhooks.change, body, as);
  };
  return { reset, create, list, deliveries, joined, namesAt, hurry };
}
