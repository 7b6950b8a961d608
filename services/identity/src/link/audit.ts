import type { Mesh } from "@svc/mesh";
import { type Asker, entryOf } from "../events.ts";

export type LinkAction = "account.create" | "account.link" | "player.reclaim";
type About = {
  action: LinkAction;
  payload: Record<string, unknown>;
  /** Whom the entry is about when nobody is signed in. */
  userId?: string;
  username?: string;
};

export function auditLink(mesh: Pick<Mesh, "audit">, asker: Asker, about: About): void {
  const { action, payload, ...subject } = about;
  mesh.audit({ ...entryOf(asker, subject), action, payload });
}
