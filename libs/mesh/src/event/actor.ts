// Who did something, as the audit log records it (docs/reference/audit.md#entries).

import type { AnyContract } from "@svc/proto";
import type { Context } from "../api.ts";

/** The part of an audit entry that says who did something. */
export type AuditActor = {
  actor: string;
  source: string;
  request_id: string;
  actor_user_id?: string;
  client_ip?: string;
  user_agent?: string;
};

/** Who did something, from the request that is being served. */
export function auditActor(
  context: Pick<Context<AnyContract>, "principal" | "client" | "requestId">,
): AuditActor {
  const { principal, client, requestId } = context;
  const about = {
    request_id: requestId,
    ...(client.address && { client_ip: client.address }),
    ...(client.userAgent && { user_agent: client.userAgent }),
  };
  switch (principal.kind) {
    case "account":
      return {
        ...about,
        actor: principal.username,
        actor_user_id: principal.user_id,
        source: principal.token ? `token:${principal.token.id}` : "external",
      };
    case "caller":
      return { ...about, actor: principal.caller, source: `internal:${principal.caller}` };
    case "service":
      return { ...about, actor: principal.service, source: `internal:${principal.service}` };
    case "anonymous":
      return { ...about, actor: "anonymous", source: "external" };
  }
}
