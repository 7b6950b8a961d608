// A person who moves to another account takes the servers along, and with them what is kept of their worlds: the next
// account may restore what the one before could (docs/reference/server-transfer.md#states).

import type { Mesh } from "@svc/mesh";
import { durables, ownership } from "@svc/proto";
import type { StorageDeps } from "../deps.ts";
import { transferBackups } from "./store.ts";

const durable = "storage-transfers";
/** Backups without their owner are worse than a message that waits long for the database. */
const maxAttempts = 100_000;

export async function followOwners(
  mesh: Pick<Mesh, "consume">,
  { db, log }: Pick<StorageDeps, "db" | "log">,
): Promise<void> {
  const declared = durables.find(({ name }) => name === durable);
  if (!declared) throw new Error(`the durable ${durable} is not declared`);
  await mesh.consume({
    durable,
    stream: declared.stream,
    subjects: declared.subjects,
    maxAttempts,
    parse: (body) => ownership.serverTransferred.data.parse(body),
    handle: async ({ data }) => {
      const { name: server, from_user_id: from, to_user_id: to, at } = data;
      const count = await transferBackups(db, { server, from, to, at: new Date(at) });
      log.info({ server, backups: count }, "backups transferred to another account");
    },
  });
}
