// A server that speaks another version would leave the player waiting for packets that never come.

import type { Backend, ServerAnswer } from "@svc/minecraft";
import { versionLabel } from "@svc/proto/game-version";
import type { Session } from "../session/session.ts";
import type { StatusCache } from "./status-cache.ts";

export type VersionDeps = { readonly statuses: StatusCache };

type Mismatch = { server: string; serverVersion: string; clientVersion: string };

/** The versions of server and game when they differ; undefined when they fit, and when the server does not tell. */
export async function findMismatch(
  { statuses }: VersionDeps,
  session: Session,
  backend: Backend,
): Promise<Mismatch | undefined> {
  const { version } = session.bridge.player;
  const answer = await statuses.read(backend, version.protocol);
  if (answer === undefined || answer.protocol === version.protocol) return undefined;
  return { server: backend.name, serverVersion: nameOf(answer), clientVersion: version.label };
}

function nameOf({ protocol, versionName }: ServerAnswer): string {
  return versionLabel(protocol) ?? (versionName || `protocol ${protocol}`);
}
