import { Counter, Gauge, Histogram, type Registry } from "@svc/telemetry";

export type WebhookMetrics = {
  attempted: (state: "delivered" | "waiting" | "dead", durationMs: number) => void;
  show: (counts: { waiting: number; oldestSeconds: number; off: number }) => void;
};

export function createWebhookMetrics(registry: Registry): WebhookMetrics {
  const attempts = new Counter({
    name: "svc_webhook_attempts_total",
    help: "Attempts to deliver to a webhook, by what became of the delivery.",
    labelNames: ["state"] as const,
    registers: [registry],
  });
  for (const state of ["delivered", "waiting", "dead"] as const) attempts.inc({ state }, 0);
  const seconds = new Histogram({
    name: "svc_webhook_attempt_seconds",
    help: "Time of one attempt, name resolution included.",
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers: [registry] });
  const waiting = gauge("svc_webhook_waiting_deliveries", "Deliveries of webhooks that are on and wait.");
  const oldest = gauge(
    "svc_webhook_oldest_first_attempt_seconds",
    "Age of the oldest delivery that is due and has had no attempt.",
  );
  const off = gauge("svc_webhooks_switched_off", "Webhooks that svc has switched off by itself.");
  return {
    attempted: (state, durationMs) => {
      attempts.inc({ state });
      seconds.observe(durationMs / 1_000);
    },
    show: (counts) => {
      waiting.set(counts.waiting);
      oldest.set(counts.oldestSeconds);
      off.set(counts.off);
    },
  };
}
