// Webhooks and deliveries as their operations show them. Addresses and secrets are in neither.

import { webhooks as contracts } from "@svc/proto";
import type { DeliveryRow, WebhookRow } from "./queue.ts";

export type Counts = { waiting: number; dead: number };

/** Types that only a newer build knows are left out, and so are its codes of failures. */
const known = (types: readonly string[]) =>
  types.flatMap((type) => contracts.WebhookEventType.safeParse(type).data ?? []);

export function toWebhook(row: WebhookRow, { waiting, dead }: Counts, now: number): contracts.Webhook {
  const { id, label, format, host, language, enabled, off_reason, old_secret_until: until } = row;
  const { last_attempt_at: at, last_attempt_ok: ok, last_attempt_status: status } = row;
  return {
    ...{ id, label, format, host, language, events: known(row.events), enabled },
    ...(!enabled && off_reason !== null && { off_reason }),
    saved_by: row.saved_by_name,
    created_at: row.created_at.toISOString(),
    ...(until !== null && until.getTime() > now && { old_secret_until: until.toISOString() }),
    ...{ waiting, dead },
    ...(at !== null && {
      last_attempt: { at: at.toISOString(), ok: ok ?? false, ...(status !== null && { status }) },
    }),
  };
}

export function toDelivery(row: DeliveryRow): contracts.Delivery {
  const { id, event_id, type, server_name: server, state, attempts, attempted_at, due_at } = row;
  const { status, error, response, duration_ms } = row;
  const failure = contracts.DeliveryFailure.safeParse(row.failure).data;
  return {
    ...{ id, event_id, type, state, attempts },
    ...(server !== null && { server }),
    at: row.at.toISOString(),
    ...(attempted_at !== null && { attempted_at: attempted_at.toISOString() }),
    ...(state === "waiting" && { next_attempt_at: due_at.toISOString() }),
    ...(status !== null && { status }),
    ...(error !== null && { error }),
    ...(failure !== undefined && { failure }),
    ...(response !== null && { response }),
    ...(duration_ms !== null && { duration_ms }),
  };
}
