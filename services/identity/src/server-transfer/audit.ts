import type { Mesh } from "@svc/mesh";
import { type Asker, entryOf } from "../events.ts";

type About = {
  action: "start" | "confirm" | "issue_code" | "redeem";
  payload: Record<string, unknown>;
  userId?: string;
  username?: string;
};

/** What an account migration without a request is done for: the loop that carries an abandoned one on. */
export const nobody: Asker = {
  requestId: "account-migration",
  principal: { kind: "service", service: "identity" },
  client: { address: "", userAgent: "" },
};

export function auditMigration(mesh: Pick<Mesh, "audit">, asker: Asker, about: About): void {
  const { action, payload, ...subject } = about;
  const isOurs = asker.principal.kind === "service";
  const ours = isOurs ? { actor: "identity", source: "internal:identity" } : {};
  mesh.audit({ ...entryOf(asker, subject), ...ours, action: `account.migrate.${action}`, payload });
}
