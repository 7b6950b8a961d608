// Each change at the host leaves an audit entry of source `break-glass` in its transaction, for there may be no mesh to
// publish it on.

import { userInfo } from "node:os";
import { saveEntry } from "../audit/store.ts";
import type { IdentityDb } from "../database.ts";
import { mintId } from "../secret.ts";
import type { Host } from "./context.ts";

export async function auditAtHost(
  { now }: Host,
  trx: IdentityDb,
  entry: { action: string; payload: Record<string, unknown> },
): Promise<void> {
  await saveEntry(trx, {
    id: mintId(),
    at: now.toISOString(),
    actor: userInfo().username,
    source: "break-glass",
    ...entry,
  });
}
