import type { Announcements } from "../announcement/announcements.ts";
import { valuesOf } from "../announcement/tell.ts";
import type { Answer, InternalApi } from "../api/internal-api.ts";
import { BusyError, type Pool } from "../api/pool.ts";
import type { Registry } from "../registry/registry.ts";
import { isCurrent, languageOf, type Session, type Sessions, tell } from "../session/session.ts";
import { durationText, startOutlookOf } from "../status/start-outlook.ts";
import type { SentenceKey } from "../text/text.ts";
import type { Waiter } from "./policy.ts";
import type { Queue } from "./queue.ts";
import { wakeOutcome } from "./wake.ts";

export type WakeDeps = {
  readonly api: Pick<InternalApi, "wake" | "readMenu">;
  readonly pool: Pool;
  readonly queue: Pick<Queue, "find" | "add">;
  readonly sessions: Sessions;
  readonly registry: Pick<Registry, "find">;
  readonly announcements: Pick<Announcements, "window">;
  readonly now: () => number;
};

/** `retryAfterMs`: the server was woken a moment ago and is asked for again then. */
type WakeTold =
  | { queued: true; retryAfterMs?: number | undefined }
  | { queued: false; code: string; sentence: SentenceKey };

/** Wakes a server for a player and queues them; a refusal is shown to the player. */
export async function wakeAndQueue(
  context: WakeDeps,
  session: Session,
  want: Pick<Waiter, "server" | "origin">,
): Promise<WakeTold> {
  const { server } = want;
  const told = await wakeOnce(context, session, want);
  if (!told.queued && told.sentence === "wakeForbidden" && (await isUnclaimed(context, server)))
    told.sentence = "wakeUnclaimed";
  if (!isCurrent(context, session)) return told;
  if (!told.queued) tellRefusal(context, session, { server, sentence: told.sentence });
  else if (told.retryAfterMs === undefined) tellWaking(context, session, server);
  else tell(session, "coolingDown", { server, seconds: Math.max(1, Math.ceil(told.retryAfterMs / 1_000)) });
  return told;
}

function tellRefusal(
  { announcements, now }: WakeDeps,
  session: Session,
  { server, sentence }: { server: string; sentence: SentenceKey },
): void {
  const window = sentence === "maintenanceNow" ? announcements.window() : undefined;
  if (window) {
    const about = valuesOf(session, window, Date.parse(window.end) - now());
    tell(session, "maintenanceWindow", { server, ...about });
  } else tell(session, sentence, { server });
}

function tellWaking({ registry, now }: WakeDeps, session: Session, server: string): void {
  const outlook = startOutlookOf(registry.find(server), now());
  if (outlook.kind !== "about") tell(session, "waking", { server });
  else tell(session, "wakingAbout", { server, time: durationText(outlook.seconds, languageOf(session)) });
}

/** False while the service does not say. */
async function isUnclaimed({ pool, api }: WakeDeps, server: string): Promise<boolean> {
  const row = await pool.run(() => api.readMenu(server)).catch(() => undefined);
  return row?.ok === true && row.value.claimable;
}

async function wakeOnce(
  context: WakeDeps,
  session: Session,
  want: Pick<Waiter, "server" | "origin">,
): Promise<WakeTold> {
  const { pool, api, queue, now } = context;
  let answer: Answer<unknown>;
  try {
    answer = await pool.run(() => api.wake(want.server, session.uuid));
  } catch (error) {
    if (!(error instanceof BusyError)) throw error;
    return { queued: false, code: "busy", sentence: "busy" };
  }
  // Who left meanwhile, or came back on another connection and is at the gate, waits for nothing.
  if (!isCurrent(context, session)) return { queued: false, code: "left", sentence: "tryAgain" };
  const code = answer.ok ? "" : answer.code;
  const outcome = wakeOutcome(answer.ok ? { status: 202, code } : answer);
  if (!outcome.queue) return { queued: false, code, sentence: outcome.sentence };
  const at = now();
  const retryWakeAt = outcome.retryAfterMs === undefined ? undefined : at + outcome.retryAfterMs;
  const before = queue.find(session.uuid);
  // A second wake for the same server does not restart the hour.
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
  return { queued: true, retryAfterMs: outcome.retryAfterMs };
}
