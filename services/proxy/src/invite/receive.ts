import type { players } from "@svc/proto";
import type { ProxyConfig } from "../config.ts";
import { type Sessions, sentence } from "../session/session.ts";

import type { Invites } from "./invites.ts";

export type InvitationDeps = {
  readonly config: Pick<ProxyConfig, "limits">;
  readonly sessions: Sessions;
  readonly invites: Pick<Invites, "keep">;
  readonly now: () => number;
};

/** An invitation by a player of another proxy. */
export function receiveInvitation(
  { sessions, invites, now, config }: InvitationDeps,
  { id, from_uuid, from_name, to_uuid, server }: players.Invitation,
): void {
  const guest = sessions.get(to_uuid);
  if (!guest?.isReleased) return;
  const text = sentence(guest, "inviteCard", { player: from_name, server, id });
  const isShown = guest.bridge.message({ text, color: "aqua", click: { run: `/invite accept ${id}` } });
  if (isShown)
    invites.keep({ id, from: from_uuid, server, until: now() + config.limits.inviteTtlMs }, to_uuid);
}
