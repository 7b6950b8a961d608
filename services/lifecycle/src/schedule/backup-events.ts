// Failed backups, for tasks that wait for them (docs/reference/schedules.md#triggers). A message that comes twice is noted once.

import type { Mesh } from "@svc/mesh";
import { backups, durableNamed, parseNewer } from "@svc/proto";
import type { TriggerStore } from "./trigger-store.ts";

const durable = "lifecycle-backups";
/** While the database is away it is tried again: what is too old then is missed, and said to be. */
const maxAttempts = 100_000;

export async function followBackups(
  mesh: Pick<Mesh, "consume">,
  triggers: Pick<TriggerStore, "note">,
): Promise<void> {
  const { stream, subjects } = durableNamed(durable);
  await mesh.consume({
    durable,
    stream,
    subjects,
    maxAttempts,
    parse: (body) => parseNewer(backups.backupFailed.data, body),
    handle: async ({ data: { server_name: server, job, at } }) => {
      const event = `backup-${job}`;
      const happening = { event, trigger: "backup_failed", at: new Date(at), about: job } as const;
      await triggers.note([{ server, happening }]);
    },
  });
}
