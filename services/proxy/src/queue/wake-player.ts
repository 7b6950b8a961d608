import type { Answer } from "../api/face.ts";
import { BusyError } from "../api/pool.ts";
import type { Context, Session } from "../player/session.ts";
import { tell } from "../player/session.ts";
import type { SentenceKey } from "../text/text.ts";
import type { Waiter } from "./policy.ts";
import { wakeOutcome } from "./wake.ts";

export type WakeTold = { queued: true } | { queued: false; code: string; sentence: SentenceKey };

/** Wakes a server for a player and lets them wait for it; a refusal is told to the player. */
export async function wakeAndQueue(
  context: Context,
  session: Session,
  want: Pick<Waiter, "server" | "origin">,
): Promise<WakeTold> {
  const { server } = want;
  const told = await wakeOnce(context, session, want);
  tell(session, told.queued ? "waking" : told.sentence, { server });
  return told;
}

async function wakeOnce(
  context: Context,
  session: Session,
  want: Pick<Waiter, "server" | "origin">,
): Promise<WakeTold> {
  const { pool, face, queue, now } = context;
  let answer: Answer<unknown>;
  try {
    answer = await pool.run(() => face.wake(want.server, session.uuid));
  } catch (error) {
    if (!(error instanceof BusyError)) throw error;
    context.activity.count("busy");
    return { queued: false, code: "busy", sentence: "busy" };
  }
  const code = answer.ok ? "" : answer.code;
  const outcome = wakeOutcome(answer.ok ? { status: 202, code } : answer);
  if (!outcome.queue) return { queued: false, code, sentence: outcome.sentence };
  const at = now();
  const retryWakeAt = outcome.retryAfterMs === undefined ? undefined : at + outcome.retryAfterMs;
  const before = queue.find(session.uuid);
  // A second wake for the same wish does not begin the hour anew.
  const since = before?.server === want.server ? before.since : at;
  const { server, origin } = want;
  queue.add({
    player: session.uuid,
    server,
    origin,
    since,
    answeredAt: at,
    toldAt: at,
    wokenAt: at,
    retryWakeAt,
  });
  return { queued: true };
}
