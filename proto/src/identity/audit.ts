// The audit entry that every service publishes and identity keeps (docs/reference/audit.md#entries).

import { z } from "zod";

/** One audited action. `source` is `external`, `token:<id>`, `internal:<caller>`, `scheduler` or `break-glass`. */
export const AuditEntry = z.strictObject({
  id: z.string(),
  at: z.iso.datetime(),
  actor_user_id: z.string().optional(),
  actor: z.string(),
  client_ip: z.string().optional(),
  user_agent: z.string().optional(),
  action: z.string(),
  server_name: z.string().optional(),
  request_id: z.string().optional(),
  payload: z.record(z.string(), z.unknown()).default({}),
  source: z.string(),
});
export type AuditEntry = z.output<typeof AuditEntry>;

/** Subject on which a service publishes its entries; kept in the stream `AUDIT`. */
export function auditSubject(service: string): string {
  return `svc.audit.${service}`;
}
export const auditStream = { name: "AUDIT", subjects: ["svc.audit.>"] } as const;
