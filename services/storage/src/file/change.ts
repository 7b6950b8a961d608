// The audit of changes, from admission to outcome: a row is written before the Job is created, and whoever sees the Job's
// end replaces the row by the audit entry, in one transaction. So every change has exactly one entry, whatever dies.

import { auditActor, type Context } from "@svc/mesh";
import { type AnyContract, type AuditEntry, isFault } from "@svc/proto";
import type { Selectable } from "kysely";
import { recordAudit } from "../audit.ts";
import { named } from "../database/named.ts";
import type { StorageDb, StorageTrx, Tables } from "../database/tables.ts";
import type { Outcome } from "../job/outcome.ts";
import { keepVersion, type NewVersion } from "./version-store.ts";

export type Change = { action: string; path: string; payload?: Record<string, unknown> };

/** How a change ended. `unknown`: its Job died, so the change may or may not be done. */
type Ending = {
  outcome: "done" | "failed" | "unknown";
  error?: string;
  /** base64: what a text was that was replaced. */
  previous?: string;
};

type Requester = Pick<Context<AnyContract>, "principal" | "client" | "requestId">;
type Admission = { job: string; server: string; op?: string; change: Change; now: number };

/** Records who requested a change, before its Job is created. */
export async function admitChange(db: StorageDb, context: Requester, admission: Admission): Promise<void> {
  const { job, server, op, change, now } = admission;
  const at = new Date(now);
  const entry: AuditEntry = {
    ...auditActor(context),
    id: `storage-${job}`,
    at: at.toISOString(),
    action: change.action,
    // A file is written as `<server>:<path>`.
    server_name: `${server}:${change.path}`,
    payload: { ...change.payload, ...(op !== undefined && { op }) },
  };
  const row = { job, server_name: server, entry: JSON.stringify(entry), op: op ?? null, started_at: at };
  const admit = (trx: StorageTrx) => trx.insertInto("file_changes").values(row).execute();
  await db.transaction().execute(named("admit a file change", admit));
}

/**
 * Writes the audit entry of a change, and keeps what a text was before it; false when that was done before. `previous` is
 * base64.
 */
export async function recordEnding(
  db: StorageDb,
  job: string,
  { previous, ...ending }: Ending,
): Promise<boolean> {
  const end = async (trx: StorageTrx) => {
    const row = await trx
      .deleteFrom("file_changes")
      .where("job", "=", job)
      .returning(["entry", "server_name", "started_at"])
      .executeTakeFirst();
    if (!row) return false;
    const entry = { ...row.entry, payload: { ...row.entry.payload, ...ending } };
    await recordAudit(trx, entry);
    if (previous !== undefined) await keepVersion(trx, versionOf(row, previous));
    return true;
  };
  return db.transaction().execute(named("end a file change", end));
}

type Recorded = Pick<Selectable<Tables["file_changes"]>, "entry" | "server_name" | "started_at">;

function versionOf({ entry, server_name, started_at }: Recorded, previous: string): NewVersion {
  const path = (entry.server_name ?? "").slice(server_name.length + 1);
  const content = Buffer.from(previous, "base64");
  return { server_name, path, content, replaced_by: entry.actor, replaced_at: started_at };
}

/** The ending of a change for a Job's outcome. Pure. */
export function endingOf(outcome: Outcome): Ending {
  if (outcome.kind === "done") {
    const { previous, changed } = outcome.done;
    // Nothing was moved.
    if (changed?.length === 0) return { outcome: "failed", error: "nothing_changed" };
    return { outcome: "done", ...(previous !== undefined && { previous }) };
  }
  if (outcome.kind === "refused") return { outcome: "failed", error: outcome.fault.code };
  return { outcome: "unknown", error: outcome.message };
}

/** The ending when the Job was not created; undefined when the cluster did not answer, since the Job may exist. Pure. */
export function endingOfStart(error: unknown): Ending | undefined {
  if (isFault(error) && error.fault === "unavailable") return undefined;
  return { outcome: "failed", error: error instanceof Error ? error.message : String(error) };
}
