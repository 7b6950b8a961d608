import type { Mesh } from "@svc/mesh";
import { type Asker, entryOf } from "../events.ts";

/** What was done to a user, by whom: the subject stands in the payload. */
export type UserAction =
  | "user.create"
  | "user.update"
  | "user.delete"
  | "user.disable"
  | "user.enable"
  | "user.session.revoke"
  | "user.passkeys.remove"
  | "user.link.add"
  | "user.link.remove"
  | "quota.update"
  | "settings.update";

export function auditUser(
  mesh: Pick<Mesh, "audit">,
  asker: Asker,
  about: { action: UserAction; payload: Record<string, unknown> },
): void {
  mesh.audit({ ...entryOf(asker, {}), ...about });
}
