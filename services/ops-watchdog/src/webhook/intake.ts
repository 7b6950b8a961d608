// Where deliveries come from (docs/reference/webhooks.md#sources): the streams of lifecycle, storage and builds, read in order by durable
// consumers, and the history of alerts. A message is acknowledged once its deliveries are in the database.

import { setTimeout as delay } from "node:timers/promises";
import type { Mesh } from "@svc/mesh";
import { durableNamed, isFault } from "@svc/proto";
import { startLoop } from "@svc/service/loop";
import type { Logger } from "@svc/telemetry";
import type { WatchdogDb } from "../database.ts";
import type { StateFile } from "../watchdog/state-file.ts";
import { eventIdOf, type Read, readAlerts, readMessage } from "./event.ts";
import { enqueue, enqueueAlerts } from "./queue.ts";

type IntakeDeps = {
  db: WatchdogDb;
  mesh: Pick<Mesh, "consume">;
  /** Called when something was queued. */
  onQueued: () => void;
  log: Logger;
};

/** What cannot be read is a dead letter; what cannot be stored waits, and holds up what comes after it. */
const maxAttempts = 100_000;
const storeAgainMs = 1_000;

export async function takeEvents({ db, mesh, onQueued, log }: IntakeDeps): Promise<void> {
  for (const name of ["ops-watchdog-servers", "ops-watchdog-worlds", "ops-watchdog-builds"]) {
    const { stream, subjects } = durableNamed(name);
    await mesh.consume<unknown>({
      durable: name,
      stream,
      subjects,
      maxAttempts,
      maxInFlight: 1,
      parse: (body) => body,
      handle: async ({ data, subject, id, signal }) => {
        const read = readMessage(subject, data);
        while ((await store(db, { read, id }).catch(laterOf)) === "later") {
          log.info({ subject }, "storing an event for webhooks failed; retrying");
          await delay(storeAgainMs, undefined, { signal });
        }
        if (read.tell) onQueued();
      },
    });
  }
}

/** The database is away: it is tried here, since a message that is delivered later would come behind newer ones. */
function laterOf(error: unknown): "later" {
  if (isFault(error) && error.fault === "unavailable") return "later";
  throw error;
}

async function store(db: WatchdogDb, { read, id }: { read: Read; id: string }): Promise<void> {
  const { tell, ownerChanged } = read;
  if (tell) await enqueue(db, { ...tell, id: eventIdOf(id) });
  if (!ownerChanged) return;
  await db
    .deleteFrom("webhooks")
    .where("server_name", "=", ownerChanged.server)
    .where("created_at", "<=", ownerChanged.at)
    .execute();
}

/** Looks at the history of alerts now and then: a run of the watchdog is a process of its own. */
export function takeAlerts(
  { db, onQueued, log }: Omit<IntakeDeps, "mesh">,
  { file, everyMs }: { file: Pick<StateFile, "read">; everyMs: number },
): { close: () => Promise<void> } {
  let doneUntil = 0;
  const round = async () => {
    const { history } = await file.read();
    const happened = readAlerts(history.filter(({ at }) => at > doneUntil));
    if ((await enqueueAlerts(db, happened)) > 0) onQueued();
    doneUntil = Math.max(doneUntil, ...happened.map(({ at }) => at.getTime()));
  };
  return startLoop(round, {
    everyMs,
    onError: (error) => log.warn({ error: error.message }, "reading alerts for webhooks failed; retrying"),
  });
}
