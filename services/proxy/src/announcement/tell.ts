import { languageOf, type Session, type Sessions, tell } from "../session/session.ts";
import { durationText } from "../status/start-outlook.ts";
import type { Announcement, Announcements } from "./announcements.ts";
import { dueOf, verdictOf } from "./policy.ts";

type TellDeps = {
  readonly announcements: Pick<Announcements, "all">;
  readonly sessions: Sessions;
  readonly now: () => number;
};

type Heard = { at: string; since: number; keys: Set<string> };

const sentences = { message: "announced", soon: "maintenanceSoon", begun: "maintenanceBegun" } as const;

/** One round over all players; each is told of each announcement once in a connection. */
export function createTelling({ announcements, sessions, now }: TellDeps): () => Promise<void> {
  // Forgotten with the connection.
  const heardBy = new WeakMap<Session, Heard>();
  const heardOf = (session: Session, moment: number): Heard => {
    const { place } = session;
    const at = place.kind === "server" ? `server ${place.name}` : place.kind;
    const before = heardBy.get(session);
    if (before?.at === at) return before;
    const heard = { at, since: moment, keys: before?.keys ?? new Set<string>() };
    heardBy.set(session, heard);
    return heard;
  };
  return async () => {
    const moment = now();
    const due = announcements.all().flatMap((one) => {
      const what = dueOf(one, moment);
      return what ? [{ one, what }] : [];
    });
    for (const session of sessions.values()) {
      const { since, keys } = heardOf(session, moment);
      for (const { one, what } of due) {
        if (keys.has(what.key)) continue;
        const about = { place: session.place, since, isPublic: one.public };
        const verdict = verdictOf(what, about);
        if (verdict !== "later") keys.add(what.key);
        if (verdict === "tell")
          tell(session, sentences[what.kind], valuesOf(session, one, what.until - moment));
      }
    }
  };
}

/** The values of every sentence about an announcement; `leftMs`: until it begins or ends. */
export function valuesOf(session: Session, { text }: Announcement, leftMs: number) {
  const language = languageOf(session);
  const words = (language === "zh" ? text.zh : undefined) ?? text.en;
  return { text: words, time: durationText(Math.max(1, Math.ceil(leftMs / 1_000)), language) };
}
