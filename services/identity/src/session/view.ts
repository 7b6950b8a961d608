import type { accounts } from "@svc/proto";
import type { Selectable } from "kysely";
import type { SessionsTable } from "../database.ts";

/** The one mapper from a row; `current` is the hash of the requesting session. */
export function toSessionView(row: Selectable<SessionsTable>, current = ""): accounts.SessionView {
  return {
    token_hash: row.token_hash,
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
    last_seen_at: row.last_seen_at.toISOString(),
    user_agent: row.user_agent,
    client_ip: row.client_ip,
    ...(row.revoked_at && { revoked_at: row.revoked_at.toISOString() }),
    ...(row.token_hash === current && { current: true }),
  };
}
