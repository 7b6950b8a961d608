// Rejected codes of signed-in accounts. Many attempts must not fill the audit log: they are one row for
// each endpoint and interval, with their count.

import { AuditEntry } from "@svc/proto";
import type { Logger } from "@svc/telemetry";
import type { IdentityDb } from "../database.ts";
import { countEntry } from "./store.ts";

export type Refusal = Record<string, unknown> & { action: string; actor_user_id: string; reason: string };

/** Counts a rejected code; a failure is logged, never thrown. */
export function createRefusals(needs: { db: IdentityDb; now: () => Date; spanMs: number; log: Logger }) {
  const { db, now, spanMs, log } = needs;
  return ({ reason, ...about }: Refusal): void => {
    const at = now();
    const span = Math.floor(at.getTime() / spanMs);
    const entry = AuditEntry.parse({
      ...about,
      id: `${about.action} ${reason} ${about.actor_user_id} ${span}`,
      at: at.toISOString(),
      payload: { reason, tries: 1 },
    });
    void countEntry(db, entry).catch((error: unknown) => {
      log.error({ action: about.action, err: error }, "counting a refused code in the audit log failed");
    });
  };
}
