// Audit entries of changes. Each is added in the transaction of its change and published after the commit.

import type { AuditEntry, Client, Principal } from "@svc/proto";
import { auditRow } from "@svc/store";
import type { IdentityTrx } from "../database.ts";

/** The part of a request context that an audit entry is made from. */
export type Requester = { requestId: string; principal: Principal; client: Client };
/** Whom an entry is about in a request without a session. */
export type Subject = { userId?: string; username?: string };
type AuditRecord = Subject & { action: string; payload?: Record<string, unknown> };

export async function recordAudit(
  trx: IdentityTrx,
  requester: Requester,
  { action, payload = {}, ...subject }: AuditRecord,
): Promise<void> {
  const row = auditRow("identity", { ...requesterFields(requester, subject), action, payload });
  await trx.insertInto("outbox").values(row).execute();
}

type RequesterFields = Omit<AuditEntry, "id" | "at" | "action" | "payload" | "server_name">;

/** The part of an audit entry that names the requester. */
export function requesterFields(
  { principal, client, requestId }: Requester,
  subject: Subject,
): RequesterFields {
  const account = principal.kind === "account" ? principal : undefined;
  const userId = subject.userId ?? account?.user_id;
  const internal = internalName(principal);
  return {
    actor: subject.username ?? account?.username ?? internal ?? "anonymous",
    ...(userId !== undefined && { actor_user_id: userId }),
    ...(client.address !== "" && { client_ip: client.address }),
    ...(client.userAgent !== "" && { user_agent: client.userAgent }),
    request_id: requestId,
    source: internal === undefined ? "external" : `internal:${internal}`,
  };
}

function internalName(principal: Principal): string | undefined {
  if (principal.kind === "caller") return principal.caller;
  return principal.kind === "service" ? principal.service : undefined;
}
