// With which version of the game players came (docs/reference/images.md#versions).

import { players } from "@svc/proto";
import type { InternalApi } from "../api/internal-api.ts";
import type { Session, Sessions } from "../session/session.ts";

type VersionDeps = { readonly sessions: Sessions; readonly api: Pick<InternalApi, "reportVersions"> };

/** Tells each session's version once; a run takes whoever came since the last one, and no run is needed when nobody did. */
export function createVersionReports({ sessions, api }: VersionDeps): {
  isNeeded: () => boolean;
  run: () => Promise<void>;
} {
  const told = new WeakSet<Session>();
  const isNew = (session: Session) => !told.has(session);
  return {
    isNeeded: () => [...sessions.values()].some(isNew),
    run: async () => {
      const fresh = [...sessions.values()].filter(isNew).slice(0, players.maxPlayersReported);
      const rows = fresh.map(({ uuid, bridge }) => ({
        mc_uuid: uuid,
        protocol: bridge.player.version.protocol,
      }));
      const answer = await api.reportVersions(rows);
      // A service of an earlier release refuses it for good; all others are asked again.
      const isRefused = !answer.ok && answer.status >= 400 && answer.status < 500 && answer.status !== 429;
      if (answer.ok || isRefused) for (const session of fresh) told.add(session);
    },
  };
}
