import assert from "node:assert/strict";
import { test } from "node:test";
import { createRegistry } from "@svc/telemetry";
import { aServer } from "../testing/observed.ts";
import { createMetrics, type MetricSources } from "./metrics.ts";

const leading = { depth: () => 3, oldestPassMs: () => 1_500 };
const failed = { ...aServer(), status: { phase: "Failed" as const } };

async function exposed(sources: Partial<MetricSources> = {}): Promise<string> {
  const registry = createRegistry("lifecycle", "test");
  const all = { list: () => [failed], leading: () => leading, ...sources };
  const metrics = createMetrics(registry, all);
  metrics.started(12);
  metrics.reconciled("failed", 0.2);
  return registry.metrics();
}

test("the gauges show servers, their phases, the queue, the oldest pass and the leader", async () => {
  const text = await exposed();
  for (const line of [
    "svc_servers_total 1",
    'svc_server_phase{server="survival",role="",phase="Failed",desired="Running"} 1',
    "svc_operator_leading 1",
    "svc_reconcile_queue_depth 3",
    "svc_reconcile_oldest_pass_seconds 1.5",
    'svc_reconciles_total{result="failed"} 1',
    "svc_reconcile_duration_seconds_count 1",
    "svc_start_duration_seconds_sum 12",
  ]) {
    assert.ok(text.includes(`${line}\n`), line);
  }
});

test("a replica that does not lead shows that and nothing about servers", async () => {
  const text = await exposed({ list: () => [], leading: () => undefined });
  assert.match(text, /^svc_operator_leading 0$/m);
  assert.doesNotMatch(text, /^svc_server_phase\{/m);
});
