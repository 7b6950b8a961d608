// The operations of alerts (docs/reference/alerts.md#status).

import { auditActor, type Context, type Mesh } from "@svc/mesh";
import { type AnyContract, alerts } from "@svc/proto";
import {
  type AlertDeps,
  acknowledgeAlert,
  endSilence,
  readHistory,
  readStatus,
  sendTests,
  silence,
} from "./operate.ts";

export function serveAlerts(mesh: Pick<Mesh, "serve" | "audit">, deps: AlertDeps): void {
  const audit = <C extends AnyContract>(context: Context<C>, action: string, payload: object) =>
    mesh.audit({ ...auditActor(context), action, payload });
  mesh.serve(alerts.readAlerts, () => readStatus(deps));
  mesh.serve(alerts.readAlertHistory, async () => ({ entries: await readHistory(deps) }));
  mesh.serve(alerts.silenceAlerts, async (context, { key, hours, reason }) => {
    const made = await silence(deps, { key, hours, reason, by: nameOf(context) });
    audit(context, "alert.silence", { key, hours, reason });
    return made;
  });
  mesh.serve(alerts.endSilence, async (context, { id }) => {
    await endSilence(deps, { id, by: nameOf(context) });
    audit(context, "alert.end_silence", { id });
    return null;
  });
  mesh.serve(alerts.acknowledgeAlert, async (context, { key, note }) => {
    const alert = await acknowledgeAlert(deps, { key, note, by: nameOf(context) });
    audit(context, "alert.acknowledge", { key });
    return alert;
  });
  mesh.serve(alerts.testAlerts, async (context) => {
    const deliveries = await sendTests(deps);
    audit(context, "alert.test", {});
    return { deliveries };
  });
}

function nameOf({ principal }: Pick<Context<AnyContract>, "principal">): string {
  return principal.kind === "account" ? principal.username : principal.kind;
}
