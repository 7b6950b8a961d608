import { Gauge, type Registry } from "@svc/telemetry";
import type { WatchdogState } from "./state.ts";
import type { StateFile } from "./state-file.ts";

/** Shows the state file at each scrape: the runs are processes of their own. */
export function showAlerts(registry: Registry, file: Pick<StateFile, "read">): void {
  const registers = [registry];
  new Gauge({
    name: "svc_watchdog_last_run_timestamp_seconds",
    help: "Unix time of the newest finished run of the watchdog; 0 if there was none.",
    registers,
    async collect() {
      this.set(((await file.read()).checked_at ?? 0) / 1_000);
    },
  });
  new Gauge({
    name: "svc_watchdog_alerts",
    help: "Alerts of the watchdog that fire, by severity.",
    labelNames: ["severity"] as const,
    registers,
    async collect() {
      const state = await file.read();
      for (const severity of ["critical", "warning"] as const)
        this.set({ severity }, countFiring(state, severity));
    },
  });
  new Gauge({
    name: "svc_watchdog_failing_deliveries",
    help: "Recipients and channels that the newest attempt did not reach.",
    registers,
    async collect() {
      this.set(Object.values((await file.read()).ways).filter(({ ok }) => !ok).length);
    },
  });
}

function countFiring({ alerts }: WatchdogState, wanted: string): number {
  return Object.values(alerts).filter(
    ({ severity, fired_at, cleared_at }) =>
      severity === wanted && fired_at !== undefined && cleared_at === undefined,
  ).length;
}
