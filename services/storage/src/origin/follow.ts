// Takes up the order of a clone (docs/reference/clones.md#world).

import type { Mesh } from "@svc/mesh";
import { clones, durableNamed, parseNewer } from "@svc/proto";
import type { StorageDeps } from "../deps.ts";
import { insertOrigin } from "./store.ts";

const durable = "storage-clones";
/** Until it is taken up the clone cannot start, so it is never given up. */
const maxAttempts = 100_000;

export async function followClones(
  mesh: Pick<Mesh, "consume">,
  { db, log }: Pick<StorageDeps, "db" | "log">,
): Promise<void> {
  const { stream, subjects } = durableNamed(durable);
  await mesh.consume({
    durable,
    stream,
    subjects,
    maxAttempts,
    parse: (body) => parseNewer(clones.cloned.data, body),
    handle: async ({ data }) => {
      if (await insertOrigin(db, data)) log.info({ server: data.name, source: data.source }, "clone ordered");
    },
  });
}
