// When an account transfers its servers, their backups follow: the new account can restore what the old one could (docs/reference/server-transfer.md#states).

import type { Mesh } from "@svc/mesh";
import { durableNamed, ownership, parseNewer } from "@svc/proto";
import type { StorageDeps } from "../deps.ts";
import { transferBackups } from "./store.ts";

const durable = "storage-transfers";
/** Backups with a wrong owner are worse than a message that is retried for long. */
const maxAttempts = 100_000;

export async function followOwners(
  mesh: Pick<Mesh, "consume">,
  { db, log }: Pick<StorageDeps, "db" | "log">,
): Promise<void> {
  const { stream, subjects } = durableNamed(durable);
  await mesh.consume({
    durable,
    stream,
    subjects,
    maxAttempts,
    parse: (body) => parseNewer(ownership.serverTransferred.data, body),
    handle: async ({ data }) => {
      const { name: server, from_user_id: from, to_user_id: to, at } = data;
      const count = await transferBackups(db, { server, from, to, at: new Date(at) });
      log.info({ server, backups: count }, "backups transferred to another account");
    },
  });
}
