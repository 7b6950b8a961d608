// Audit entries that commit with their change.

import { auditRow, type NewAuditEntry } from "@svc/store";
import type { StorageTrx } from "./database/tables.ts";

export async function recordAudit(trx: StorageTrx, entry: NewAuditEntry): Promise<void> {
  await trx.insertInto("outbox").values(auditRow("storage", entry)).execute();
}
