// Shared by identity's test processes that kill themselves.

import { openStore } from "@svc/store";
import { createLogger, createRegistry } from "@svc/telemetry";
import type { Tables } from "../database.ts";
import { createEvents } from "../events.ts";

export type KillPoint = "before the commit" | "after the commit";

export const die = () => process.kill(process.pid, "SIGKILL");

export function openKilledProcess(url: string) {
  const store = openStore<Tables>({
    url,
    schema: "identity",
    poolSize: 2,
    log: createLogger("identity", "silent"),
  });
  const events = createEvents({
    mesh: { audit: () => undefined },
    countRefusal: () => undefined,
    registry: createRegistry("identity", "test"),
  });
  return { store, events };
}
