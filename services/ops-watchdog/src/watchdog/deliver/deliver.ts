// Sends what is due every way. Mails go one after the other, each channel by itself, so that a relay that hangs delays no channel.

import { decideDue, isAnythingDue, longestPauseMs, markAttempt, markSent } from "../due.ts";
import { type Held, sendable } from "../held.ts";
import type { Memory } from "../memory.ts";
import { settle } from "../observe.ts";
import type { WatchdogState } from "../state.ts";
import type { Way } from "./ways.ts";

/** No way is begun later: a run must end within its three minutes, with its heartbeat. */
const beginWithinMs = 60_000;

export type Delivered = {
  /** Ways that were sent something. */
  delivered: string[];
  failed: { way: string; error: string }[];
};

export type Delivery = {
  memory: Memory;
  held: Held | undefined;
  now: () => number;
  step?: ((name: string) => void) | undefined;
};

export async function deliver(ways: readonly Way[], delivery: Delivery): Promise<Delivered> {
  const { memory, now } = delivery;
  const outcome: Delivered = { delivered: [], failed: [] };
  const endAt = performance.now() + beginWithinMs;
  const sendAll = async (lane: readonly Way[]) => {
    for (const way of lane) await send(way, { ...delivery, endAt }, outcome);
  };
  const mails = ways.filter(({ id }) => id.startsWith("mail:"));
  const others = ways.filter((way) => !mails.includes(way));
  await Promise.all([mails, ...others.map((way) => [way])].map(sendAll));
  const ids = ways.map(({ id }) => id);
  await memory.change((before) => forgetWays(settle(before, ids, now()), ids));
  return outcome;
}

async function send(
  way: Way,
  { memory, held, now, step, endAt }: Delivery & { endAt: number },
  { delivered, failed }: Delivered,
): Promise<void> {
  const due = decideDue(sendable(memory.state(), held), way.id, now());
  const nextAt = memory.state().ways[way.id]?.next_at ?? 0;
  // A pause from before the clock was set back is none.
  const isPaused = nextAt > now() && nextAt - now() <= longestPauseMs;
  if (!isAnythingDue(due) || isPaused) return;
  if (performance.now() > endAt) {
    failed.push({ way: way.id, error: "no time was left; the next run tries it" });
    return;
  }
  const error = await way.send(due).then(
    () => undefined,
    (reason: Error) => reason.message.slice(0, 300),
  );
  step?.("delivered");
  if (error === undefined) delivered.push(way.id);
  else failed.push({ way: way.id, error });
  await memory.change((before) => {
    const tried = markAttempt(before, { way: way.id, error }, now());
    return error === undefined ? markSent(tried, { way: way.id, due }, now()) : tried;
  });
}

function forgetWays(state: WatchdogState, ids: readonly string[]): WatchdogState {
  const ways = Object.entries(state.ways).filter(([id]) => ids.includes(id));
  return ways.length === Object.keys(state.ways).length
    ? state
    : { ...state, ways: Object.fromEntries(ways) };
}
