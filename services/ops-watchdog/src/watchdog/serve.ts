// The operations of alerts (docs/reference/alerts.md#status).

import { randomUUID } from "node:crypto";
import { auditActor, type Context, type Mesh } from "@svc/mesh";
import { type AnyContract, alerts } from "@svc/proto";
import type { AuditJournal } from "./audit-journal.ts";
import {
  type AlertDeps,
  acknowledgeAlert,
  endSilence,
  readHistory,
  readStatus,
  sendTests,
  silence,
} from "./operate.ts";

export function serveAlerts(mesh: Pick<Mesh, "serve">, deps: AlertDeps & { journal: AuditJournal }): void {
  const { journal } = deps;
  const audited = <C extends AnyContract, T>(
    context: Context<C>,
    { action, payload }: { action: string; payload: Record<string, unknown> },
    change: () => Promise<T>,
  ): Promise<T> => {
    const head = { id: randomUUID(), at: new Date().toISOString() };
    return journal.around({ ...head, ...auditActor(context), action, payload }, change);
  };
  mesh.serve(alerts.readAlerts, () => readStatus(deps));
  mesh.serve(alerts.readAlertHistory, async () => ({ entries: await readHistory(deps) }));
  mesh.serve(alerts.silenceAlerts, async (context, { key, hours, reason }) => {
    const about = { action: "alert.silence", payload: { key, hours, reason } };
    return audited(context, about, () => silence(deps, { key, hours, reason, by: nameOf(context) }));
  });
  mesh.serve(alerts.endSilence, async (context, { id }) => {
    const about = { action: "alert.end_silence", payload: { id } };
    await audited(context, about, () => endSilence(deps, { id, by: nameOf(context) }));
    return null;
  });
  mesh.serve(alerts.acknowledgeAlert, async (context, { key, note }) => {
    const about = { action: "alert.acknowledge", payload: { key } };
    return audited(context, about, () => acknowledgeAlert(deps, { key, note, by: nameOf(context) }));
  });
  mesh.serve(alerts.testAlerts, async (context) => {
    const deliveries = await audited(context, { action: "alert.test", payload: {} }, () => sendTests(deps));
    return { deliveries };
  });
}

function nameOf({ principal }: Pick<Context<AnyContract>, "principal">): string {
  return principal.kind === "account" ? principal.username : principal.kind;
}
