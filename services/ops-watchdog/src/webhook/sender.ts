// Sends what is due (docs/reference/webhooks.md#attempts). Every replica does; a lease in the row keeps two from sending the same.

import type { Mesh } from "@svc/mesh";
import { accounts, isFault, members, type OutputOf } from "@svc/proto";
import { createWake } from "@svc/store/wake";
import type { Logger } from "@svc/telemetry";
import type { WatchdogDb } from "../database.ts";
import { attempt, type Sending } from "./attempt.ts";
import { decideNext } from "./backoff.ts";
import type { WebhookMetrics } from "./metrics.ts";
import { drop, noticeDue, type Picked, pick, postpone, record, untilDue } from "./queue.ts";
import { findRoom, type Running } from "./room.ts";
import { decideStanding } from "./standing.ts";

/** Another replica may have queued something. */
const lookEveryMs = 15_000;
const askAgainMs = 15_000;

type SenderDeps = {
  db: WatchdogDb;
  mesh: Pick<Mesh, "call">;
  sending: Sending;
  /** A webhook to which nothing has arrived for so long is switched off. */
  turnOffAfterMs: number;
  metrics: WebhookMetrics;
  log: Logger;
  /** Called at the steps of an attempt; a test ends the process there. */
  step?: ((name: "picked" | "sent") => void) | undefined;
};

type Sender = {
  /** Something was queued. */
  ring: () => void;
  /** Begins nothing more and waits for the attempts under way. */
  close: () => Promise<void>;
};

export function startSender(deps: SenderDeps): Sender {
  const { db, log } = deps;
  const wake = createWake();
  const running = new Map<Promise<void>, Running>();
  let isClosing = false;
  const begin = (picked: Picked) => {
    const { webhook } = picked;
    const work = deliver(deps, picked)
      .catch((error: Error) => log.warn({ webhook: webhook.id, error: error.message }, "delivery failed"))
      .finally(() => {
        running.delete(work);
        wake.ring();
      });
    running.set(work, { host: webhook.host, owner: webhook.owner_id ?? "" });
  };
  const round = async (): Promise<number> => {
    while (!isClosing) {
      const room = findRoom([...running.values()]);
      const picked = room.free === 0 ? undefined : await pick(db, room);
      if (!picked) break;
      begin(picked);
    }
    return untilDue(db, lookEveryMs);
  };
  const loop = (async () => {
    while (!isClosing) {
      const pauseMs = await round().catch((error: Error) => {
        log.warn({ error: error.message }, "looking up webhooks failed; retrying");
        return lookEveryMs;
      });
      if (!isClosing) await wake.next(pauseMs);
    }
  })();
  return {
    ring: wake.ring,
    close: async () => {
      isClosing = true;
      wake.ring();
      await loop;
      await Promise.all(running.keys());
    },
  };
}

async function deliver(deps: SenderDeps, picked: Picked): Promise<void> {
  const { db, metrics, log, turnOffAfterMs, step } = deps;
  const { delivery, webhook, failingForMs } = picked;
  step?.("picked");
  const standing = await standingOf(deps, picked).catch((error: Error) => error);
  if (standing instanceof Error) {
    log.info(
      { webhook: webhook.id, error: standing.message },
      "looking up the owner of a server failed; retrying",
    );
    return postpone(db, delivery, askAgainMs);
  }
  if (standing === "owner_gone") {
    await db.deleteFrom("webhooks").where("id", "=", webhook.id).execute();
    return;
  }
  if (standing === "access_ended") {
    await db
      .updateTable("webhooks")
      .set({ enabled: false, off_reason: "access_ended", ...noticeDue })
      .where("id", "=", webhook.id)
      .where("enabled", "=", true)
      .execute();
    return postpone(db, delivery, 0);
  }
  if (standing === "event_removed") return drop(db, picked.delivery);
  const attempted = await attempt(picked, deps.sending);
  step?.("sent");
  const about = { attempts: delivery.attempts, failingForMs, turnOffAfterMs };
  const next = decideNext(attempted.outcome, about);
  await record(db, picked, { ...attempted, next });
  metrics.attempted(next.state, attempted.durationMs);
}

/** One of the installation belongs to all of its staff, whoever saved it. */
async function standingOf({ mesh }: SenderDeps, { webhook, delivery }: Picked) {
  const { server_name: server, saved_by: savedBy } = webhook;
  if (server === null) return decideStanding(webhook, delivery.type, { sharing: undefined, now: Date.now() });
  const [sharing, isDisabled] = await Promise.all([
    readSharing(mesh, server),
    isAccountDisabled(mesh, savedBy),
  ]);
  return decideStanding(webhook, delivery.type, { sharing, isDisabled, now: Date.now() });
}

async function isAccountDisabled(mesh: SenderDeps["mesh"], id: string): Promise<boolean> {
  const { accounts: live } = await mesh.call(accounts.describeAccounts, { user_ids: [id] });
  return live[id] === undefined;
}

/** Whose a server is, and whom it is shared with; undefined when there is no such server. */
export async function readSharing(
  mesh: Pick<Mesh, "call">,
  name: string,
  options?: Parameters<Mesh["call"]>[2],
): Promise<OutputOf<typeof members.readSharing> | undefined> {
  return mesh.call(members.readSharing, { name }, options).catch((error: unknown) => {
    if (isFault(error) && error.fault === "not_found") return undefined;
    throw error;
  });
}
