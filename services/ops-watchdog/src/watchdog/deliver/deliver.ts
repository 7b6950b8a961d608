// Sends to every receiver what is due. Mails go one after the other, each channel by itself, so that a relay that hangs delays no channel.

import { decideDue, isAnythingDue, longestPauseMs, markAttempt, markSent } from "../due.ts";
import { type Held, sendable } from "../held.ts";
import { settle } from "../observe.ts";
import type { RunState } from "../run-state.ts";
import type { WatchdogState } from "../state.ts";
import type { Receiver } from "./receivers.ts";

/** No receiver is begun later: a run must end within its three minutes, with its heartbeat. */
const beginWithinMs = 60_000;

export type Delivered = {
  /** Receivers that were sent something. */
  delivered: string[];
  failed: { way: string; error: string }[];
};

type Delivery = {
  runState: RunState;
  held: Held | undefined;
  now: () => number;
  step?: ((name: string) => void) | undefined;
};

export async function deliver(receivers: readonly Receiver[], delivery: Delivery): Promise<Delivered> {
  const { runState, now } = delivery;
  const outcome: Delivered = { delivered: [], failed: [] };
  const endAt = performance.now() + beginWithinMs;
  const sendAll = async (queue: readonly Receiver[]) => {
    for (const receiver of queue) await send(receiver, { ...delivery, endAt }, outcome);
  };
  const mails = receivers.filter(({ id }) => id.startsWith("mail:"));
  const others = receivers.filter((receiver) => !mails.includes(receiver));
  await Promise.all([mails, ...others.map((receiver) => [receiver])].map(sendAll));
  const ids = receivers.map(({ id }) => id);
  await runState.change((before) => forgetWays(settle(before, ids, now()), ids));
  return outcome;
}

async function send(
  receiver: Receiver,
  { runState, held, now, step, endAt }: Delivery & { endAt: number },
  { delivered, failed }: Delivered,
): Promise<void> {
  const due = decideDue(sendable(runState.state(), held), receiver.id, now());
  const nextAt = runState.state().ways[receiver.id]?.next_at ?? 0;
  // A pause from before the clock was set back is none.
  const isPaused = nextAt > now() && nextAt - now() <= longestPauseMs;
  if (!isAnythingDue(due) || isPaused) return;
  if (performance.now() > endAt) {
    failed.push({ way: receiver.id, error: "no time was left; the next run tries it" });
    return;
  }
  const error = await receiver.send(due).then(
    () => undefined,
    (reason: Error) => reason.message.slice(0, 300),
  );
  step?.("delivered");
  if (error === undefined) delivered.push(receiver.id);
  else failed.push({ way: receiver.id, error });
  await runState.change((before) => {
    const tried = markAttempt(before, { way: receiver.id, error }, now());
    return error === undefined ? markSent(tried, { way: receiver.id, due }, now()) : tried;
  });
}

function forgetWays(state: WatchdogState, ids: readonly string[]): WatchdogState {
  const ways = Object.entries(state.ways).filter(([id]) => ids.includes(id));
  return ways.length === Object.keys(state.ways).length
    ? state
    : { ...state, ways: Object.fromEntries(ways) };
}
