// A sender of webhooks that ends with SIGKILL at the step that SVC_TEST_KILL_AT names.

import { openStore } from "@svc/store";
import { createLogger, createRegistry } from "@svc/telemetry";
import type { Tables } from "../database.ts";
import { createWebhookMetrics } from "../webhook/metrics.ts";
import { startSender } from "../webhook/sender.ts";

const { env } = process;
const log = createLogger("test", "silent");
const store = openStore<Tables>({
  url: env["SVC_DATABASE_URL"] ?? "",
  ...{ schema: "ops_watchdog", poolSize: 2, log },
});
startSender({
  ...{ db: store.db, log, turnOffAfterMs: 86_400_000 },
  // Webhooks of the installation ask nobody.
  mesh: { call: () => Promise.reject(new Error("not asked")) },
  metrics: createWebhookMetrics(createRegistry("test", "0")),
  sending: {
    reach: { ports: [443], inside: [env["SVC_TEST_RECEIVER"] ?? ""] },
    resolve: async () => [],
    ...{ withinMs: 2_000, installation: "svc.example.org" },
  },
  step: (name) => {
    if (name === env["SVC_TEST_KILL_AT"]) process.kill(process.pid, "SIGKILL");
  },
});
