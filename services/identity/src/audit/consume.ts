import type { Mesh } from "@svc/mesh";
import { AuditEntry, durableNamed, parseNewer } from "@svc/proto";
import type { IdentityDb } from "../database.ts";
import { saveEntry } from "./store.ts";

const durable = "identity-audit";

/** Writes the audit entries of all services to the table, each once. While the database is down they wait in the stream. */
export async function consumeAudit({ mesh, db }: { mesh: Pick<Mesh, "consume">; db: IdentityDb }) {
  const { stream, subjects } = durableNamed(durable);
  await mesh.consume({
    durable,
    stream,
    subjects,
    parse: (body) => parseNewer(AuditEntry, body),
    handle: ({ data }) => saveEntry(db, data),
  });
}
