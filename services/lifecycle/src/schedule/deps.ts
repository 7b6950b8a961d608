import type { Logger } from "@svc/telemetry";
import type { ServerRcon } from "../console/rcon.ts";
import type { ServerDeps } from "../server/deps.ts";
import type { ScheduleMetrics } from "./metrics.ts";
import type { ScheduleStore } from "./store.ts";
import type { TriggerStore } from "./trigger-store.ts";

/** Dependencies of scheduled tasks; `store` is that of the servers. */
export type ScheduleDeps = ServerDeps & {
  schedules: ScheduleStore;
  triggers: TriggerStore;
  rcon: Pick<ServerRcon, "run">;
  metrics: ScheduleMetrics;
  log: Logger;
  /** Unix milliseconds; the one clock of every decision. */
  now: () => number;
};
