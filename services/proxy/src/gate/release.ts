// Letting a player out of the gate (behaviour.md r.2). Every connection passes here; nothing else sets `isReleased`.

import { BusyError } from "../api/pool.ts";
import { type Context, isCurrent, type Session, tell } from "../player/session.ts";
import { enterServer, toLobby } from "../player/travel.ts";
import { wakeAndQueue } from "../queue/wake-player.ts";
import { afterGate, type LinkVerdict, linkVerdict } from "./policy.ts";

export async function release(context: Context, session: Session): Promise<void> {
  if (session.isReleasing || session.place.kind !== "gate") return;
  session.isReleasing = true;
  try {
    const verdict = await askLink(context, session.uuid);
    if (!isCurrent(context, session)) return;
    if (verdict !== "released") return deny(context, session, verdict);
    session.isReleased = true;
    await leaveGate(context, session);
  } finally {
    session.isReleasing = false;
  }
}

async function askLink(
  { pool, face, linkedAt, now, config }: Context,
  uuid: string,
): Promise<LinkVerdict | "busy"> {
  // Without online mode nobody vouches for the UUID: its link would be somebody else's.
  if (!config.onlineMode) return "unknown";
  try {
    const answer = await pool.run(() => face.linkStatus(uuid));
    if (answer.ok) {
      if (answer.value.linked) linkedAt.set(uuid, now());
      else linkedAt.delete(uuid);
      return answer.value.linked ? "released" : "not_linked";
    }
    // A refusal of the service is an answer; memory is for its silence.
    if (answer.status !== 0 && answer.status < 500) return "unknown";
    return linkVerdict("silence", linkedAt.get(uuid), { now: now(), limits: config.limits });
  } catch (error) {
    if (error instanceof BusyError) return "busy";
    throw error;
  }
}

function deny(
  { now, config }: Context,
  session: Session,
  verdict: Exclude<LinkVerdict, "released"> | "busy",
): void {
  if (now() - session.deniedAt < config.limits.denialMs) return;
  session.deniedAt = now();
  if (verdict === "busy") tell(session, "busy");
  else tell(session, verdict === "not_linked" ? "notLinked" : "linkUnknown");
}

async function leaveGate(context: Context, session: Session): Promise<void> {
  const { face, registry, pool } = context;
  const { target } = session;
  if (target !== undefined) {
    const answer = await pool.run(() => face.readStatus(target)).catch(() => undefined);
    if (answer?.ok) registry.note(answer.value);
  }
  const after = afterGate(target, registry.find);
  if (after.go === "server") return void (await enterServer(context, session, after));
  await toLobby(context, session, undefined);
  if (session.place.kind !== "lobby") return;
  if ("notice" in after) {
    session.target = undefined;
    tell(session, after.notice, { server: after.name });
  }
  if ("wake" in after) await wakeAndQueue(context, session, { server: after.wake, origin: "join" });
}
