// What happens to a player who waits for a server (docs/reference/proxy.md#queue).
// Vocabulary: waiter = a player and the one server they wait for; look = what one round of the queue saw of it.
//
// | server                                   | the waiter                                        |
// |------------------------------------------|---------------------------------------------------|
// | any, the player is gone                  | leaves                                            |
// | any, after an hour                       | leaves: waited too long                           |
// | no answer                                | stays, leaves after 120 s of silence              |
// | unknown                                  | leaves: gone                                      |
// | Running and ready, with an address       | is transferred                                    |
// | Failed, no retry will come               | leaves: gave up                                   |
// | stopped or stopping, meant to be         | leaves: stopped; not just after its wake          |
// | the same, its wake was refused for now   | asks again once the cooldown is over              |
// | else: Starting, Failed in back-off       | stays; a line of progress every minute            |

import type { ServerInfo } from "@svc/proto";
import type { Limits } from "../limit-settings.ts";
import { joinAddress } from "../registry/join-address.ts";

export type Waiter = {
  readonly player: string;
  readonly server: string;
  /** Only those who came from the menu are announced to the lobby with TransferReady. */
  readonly origin: "menu" | "join";
  readonly since: number;
  readonly answeredAt: number;
  readonly toldAt: number;
  readonly wokenAt: number;
  /** When to ask for the wake once more; set by an answer of 429. */
  readonly retryWakeAt: number | undefined;
  /** The player was told that it is ready; a transfer that had to wait is tried again without a word. */
  readonly isAnnounced?: boolean;
};

export type Look = { kind: "status"; server: ServerInfo } | { kind: "unknown" } | { kind: "silence" };

export type LeaveReason = "disconnected" | "too_long" | "no_answer" | "gone" | "gave_up" | "stopped";

export type Decision =
  | { do: "stay" | "progress" | "wake"; waiter: Waiter }
  | { do: "transfer"; address: string }
  | { do: "leave"; why: LeaveReason };

type Moment = { now: number; isConnected: boolean; limits: Limits };

export function decide(waiter: Waiter, look: Look, { now, isConnected, limits }: Moment): Decision {
  if (!isConnected) return { do: "leave", why: "disconnected" };
  if (now - waiter.since >= limits.waiterMaxMs) return { do: "leave", why: "too_long" };
  if (look.kind === "silence") {
    const isOver = now - waiter.answeredAt >= limits.waiterSilenceMs;
    return isOver ? { do: "leave", why: "no_answer" } : tell(waiter, now, limits);
  }
  if (look.kind === "unknown") return { do: "leave", why: "gone" };
  return decideByStatus({ ...waiter, answeredAt: now }, look.server, { now, limits });
}

function decideByStatus(
  waiter: Waiter,
  server: ServerInfo,
  { now, limits }: { now: number; limits: Limits },
): Decision {
  const address = joinAddress(server);
  if (address !== undefined) return { do: "transfer", address };
  if (server.startGaveUp) return { do: "leave", why: "gave_up" };
  const isDown = server.phase === "Stopped" || server.phase === "Stopping";
  if (!isDown || server.desiredState === "Running") return tell(waiter, now, limits);
  if (waiter.retryWakeAt !== undefined) {
    const isDue = now >= waiter.retryWakeAt;
    return isDue ? { do: "wake", waiter: { ...waiter, retryWakeAt: undefined } } : tell(waiter, now, limits);
  }
  if (now - waiter.wokenAt < limits.wakeSettleMs) return tell(waiter, now, limits);
  return { do: "leave", why: "stopped" };
}

function tell(waiter: Waiter, now: number, limits: Limits): Decision {
  if (now - waiter.toldAt < limits.progressMs) return { do: "stay", waiter };
  return { do: "progress", waiter: { ...waiter, toldAt: now } };
}
