// The relying party of passkeys (docs/reference/sign-in.md#passkeys): the panel's host; the operator console is below it.

import { adminOrigin, type Settings } from "../config.ts";

export type RelyingParty = { id: string; name: string; origins: string[] };

/** Undefined where no panel host is configured: then there are no passkeys. */
export function relyingParty(settings: Settings): RelyingParty | undefined {
  const { auth, server } = settings;
  const id = (auth.panel_hostname ?? `console.${server.root_domain}`).toLowerCase();
  if (id === "") return undefined;
  const own = auth.extra_origins.map((origin) => new URL(origin).origin);
  const origins = new Set([`https://${id}`, adminOrigin(settings), ...own]);
  return { id, name: server.root_domain, origins: [...origins] };
}
