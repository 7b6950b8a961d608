// The waiting players: one round every two seconds, one status call for each server that somebody waits for.

import type { InternalApi } from "../api/internal-api.ts";
import type { ProxyConfig } from "../config.ts";
import { type ConnectDeps, enterServer } from "../connect/connect-player.ts";
import type { Registry } from "../registry/registry.ts";
import { sendToLobby } from "../session/send-to-lobby.ts";
import { isCurrent, languageOf, type Session, tell } from "../session/session.ts";
import { durationText, startOutlookOf } from "../status/start-outlook.ts";
import type { SentenceKey } from "../text/text.ts";
import { type Decision, decide, type LeaveReason, type Look, type Waiter } from "./policy.ts";
import type { Queue } from "./queue.ts";
import { type WakeDeps, wakeAndQueue } from "./wake-player.ts";

type DrainQueueDeps = ConnectDeps &
  WakeDeps & {
    readonly config: Pick<ProxyConfig, "limits">;
    readonly api: Pick<InternalApi, "readStatus">;
    readonly registry: Pick<Registry, "find" | "note">;
    readonly queue: Queue;
  };

/** One round of the queue. */
export async function drainQueue(context: DrainQueueDeps): Promise<void> {
  const byServer = Map.groupBy(context.queue.all(), ({ server }) => server);
  await Promise.all(
    [...byServer].map(async ([server, waiters]) => {
      const look = await lookAt(context, server);
      for (const waiter of waiters) settle(context, waiter, look);
    }),
  );
}

async function lookAt({ api, registry }: DrainQueueDeps, server: string): Promise<Look> {
  const answer = await api.readStatus(server);
  if (!answer.ok) return { kind: answer.status === 404 ? "unknown" : "silence" };
  registry.note(answer.value);
  return { kind: "status", server: answer.value };
}

function settle(context: DrainQueueDeps, waiter: Waiter, look: Look) {
  const { queue, sessions, now, config } = context;
  // Gone or changed while we asked.
  if (queue.find(waiter.player) !== waiter) return;
  const session = sessions.get(waiter.player);
  const moment = { now: now(), isConnected: session !== undefined, limits: config.limits };
  const decision = decide(waiter, look, moment);
  if (!session) return queue.leave(waiter.player);
  act(context, session, { waiter, decision });
}

const farewells: Readonly<Record<Exclude<LeaveReason, "disconnected">, SentenceKey>> = {
  too_long: "tooLong",
  no_answer: "noAnswer",
  gone: "serverGone",
  gave_up: "gaveUp",
  stopped: "stopped",
};

function act(
  context: DrainQueueDeps,
  session: Session,
  { waiter, decision }: { waiter: Waiter; decision: Decision },
): void {
  const { queue, log } = context;
  const { server } = waiter;
  if (decision.do === "leave") {
    queue.leave(waiter.player);
    session.target = undefined;
    if (decision.why !== "disconnected") tell(session, farewells[decision.why], { server });
    return;
  }
  if (decision.do === "transfer") {
    queue.leave(waiter.player);
    void transfer(context, session, { waiter, address: decision.address }).catch((error: unknown) =>
      log.error({ error }, "transfer failed"),
    );
    return;
  }
  queue.replace(waiter, decision.waiter);
  if (decision.do === "progress") {
    tellProgress(context, session, waiter);
  }
  if (decision.do === "wake") {
    void wakeAndQueue(context, session, waiter).then(
      (told) => told.queued || queue.leave(waiter.player),
      (error: unknown) => log.error({ error }, "waking a server again failed"),
    );
  }
}

function tellProgress({ registry, now }: DrainQueueDeps, session: Session, waiter: Waiter): void {
  const { server, since } = waiter;
  const outlook = startOutlookOf(registry.find(server), now());
  const minutes = Math.round((now() - since) / 60_000);
  if (outlook.kind === "about") {
    const time = durationText(outlook.seconds, languageOf(session));
    tell(session, "stillWaitingAbout", { server, time });
  } else tell(session, outlook.kind === "late" ? "stillWaitingLate" : "stillWaiting", { server, minutes });
}

async function transfer(
  context: DrainQueueDeps,
  session: Session,
  { waiter, address }: { waiter: Waiter; address: string },
): Promise<void> {
  const { server, origin } = waiter;
  const announce = () => {
    if (origin === "menu")
      sendToLobby(context, session, { type: "TransferReady", player: session.uuid, server });
    tell(session, "joining", { server });
  };
  const isAnnounced = waiter.isAnnounced === true;
  const result = await enterServer(context, session, {
    name: server,
    address,
    ...(!isAnnounced && { announce }),
  });
  // The player is being moved just now: the wait goes on, unless they chose another server meanwhile.
  const isBusy = !result.ok && result.why === "busy" && isCurrent(context, session);
  if (isBusy && !context.queue.find(session.uuid)) context.queue.add({ ...waiter, isAnnounced: true });
}
