// A bar, and the end of an account or of its link, reach players who are on.

import { links } from "@svc/proto";
import type { InternalApi } from "../api/internal-api.ts";
import type { ProxyConfig } from "../config.ts";
import { disconnect, isCurrent, type Session, type Sessions, sentence } from "../session/session.ts";
import type { SentenceKey } from "../text/text.ts";

type StandingDeps = {
  readonly config: Pick<ProxyConfig, "onlineMode">;
  readonly api: Pick<InternalApi, "readStandings">;
  /** Who was linked a moment ago. */
  readonly links: { readonly forget: (player: string) => void };
  readonly sessions: Sessions;
};

/** What players read who may not be on the network. */
export const standingTexts = {
  barred: "barred",
  account_disabled: "accountDisabled",
  account_deleted: "accountDeleted",
  not_linked: "unlinked",
} as const satisfies Record<links.BadStanding, SentenceKey>;

/** One request for all online players. Without an answer everybody stays. */
export async function checkStandings(context: StandingDeps): Promise<void> {
  // These UUIDs are unverified: a bar may be meant for somebody else.
  if (!context.config.onlineMode) return;
  const sessions = [...context.sessions.values()];
  for (let start = 0; start < sessions.length; start += links.maxPlayersAsked) {
    const asked = sessions.slice(start, start + links.maxPlayersAsked);
    const answer = await context.api.readStandings(asked.map(({ uuid }) => uuid));
    if (!answer.ok) return;
    for (const session of asked) judge(context, session, answer.value.standings[session.uuid]);
  }
}

function judge(context: StandingDeps, session: Session, standing: links.BadStanding | undefined): void {
  // Who is in the gate is there to be linked.
  const isAllowed = standing === undefined || (standing === "not_linked" && !session.isReleased);
  if (isAllowed || !isCurrent(context, session)) return;
  context.links.forget(session.uuid);
  disconnect(session, sentence(session, standingTexts[standing]), standing);
}
