// Changes of the cluster with an audit entry (database/audit.ts).

import { isKubeError } from "@svc/kube";
import { startLoop } from "@svc/service/loop";
import type { Logger } from "@svc/telemetry";
import type { Audit, AuditStore } from "../database/audit.ts";

/** Admits a change and makes it; whoever calls this settles or drops it. Drops it when the cluster rejects it. */
export async function admitChange<T>(
  audits: AuditStore,
  audit: Audit,
  change: () => Promise<T>,
): Promise<{ id: string; result: T }> {
  const id = await audits.admit(audit);
  try {
    return { id, result: await change() };
  } catch (error) {
    // After any other error the change may have been made; the sweep publishes its entry.
    if (isRejected(error)) await audits.drop(id).catch(() => {});
    throw error;
  }
}

/** Makes a change of the cluster and publishes its entry. */
export async function changeAudited<T>(
  audits: AuditStore,
  audit: Audit,
  change: () => Promise<T>,
): Promise<T> {
  const { id, result } = await admitChange(audits, audit, change);
  // The change was made; without the database the sweep publishes its entry later.
  await audits.settle(id).catch(() => {});
  return result;
}

function isRejected(error: unknown): boolean {
  return isKubeError(error) && error.code >= 400 && error.code < 500;
}

const sweepMs = 30_000;
/** No request runs for so long. */
const abandonedMs = 180_000;

/** Settles the changes that dead replicas left, until closed. */
export function startSweepingChanges(audits: AuditStore, log: Logger): { close: () => Promise<void> } {
  return startLoop(() => audits.sweep(abandonedMs), {
    everyMs: sweepMs,
    onError: (error) => log.warn({ error: error.message }, "completing server changes failed; retrying"),
  });
}
