// Lists the processes on the mesh as `nats micro ls` does, for `svc status` and `svc doctor`.

import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import type { FoundService } from "../api.ts";
import { randomToken } from "../connection/random-token.ts";
import type { Core } from "../core.ts";

const Stats = z.looseObject({
  name: z.string(),
  id: z.string(),
  version: z.string(),
  started: z.string(),
  endpoints: z.array(z.looseObject({ num_requests: z.number(), num_errors: z.number() })),
});

const settleMs = 150;

/** Every process that answers `$SRV.STATS` within `waitMs`; ends early when no new answer arrives for 150 ms. */
export async function discover(core: Core, waitMs: number): Promise<FoundService[]> {
  const inbox = `${core.connection.inboxPrefix}.${randomToken()}`;
  const found: FoundService[] = [];
  const listening = core.connection.subscribe(inbox, (message) => {
    const stats = Stats.safeParse(JSON.parse(Buffer.from(message.data).toString("utf8")));
    if (stats.success) found.push(summary(stats.data));
  });
  try {
    await core.connection.client.flush();
    core.connection.publish("$SRV.STATS", new Uint8Array(0), { reply: inbox });
    const endAt = Date.now() + waitMs;
    for (let seen = -1; Date.now() < endAt && (found.length === 0 || seen < found.length); ) {
      seen = found.length;
      await delay(settleMs);
    }
    return found.sort((a, b) => a.name.localeCompare(b.name) || a.id.localeCompare(b.id));
  } finally {
    listening.unsubscribe();
  }
}

function summary(stats: z.output<typeof Stats>): FoundService {
  const { name, id, version, started, endpoints } = stats;
  const total = (key: "num_requests" | "num_errors") =>
    endpoints.reduce((sum, endpoint) => sum + endpoint[key], 0);
  return {
    name,
    id,
    version,
    started,
    endpoints: endpoints.length,
    requests: total("num_requests"),
    errors: total("num_errors"),
  };
}
