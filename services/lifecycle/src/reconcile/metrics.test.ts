import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { createRegistry } from "@svc/telemetry";
import { parse } from "yaml";
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

type Rule = {
  alert: string;
  expr: string;
  for: string;
  labels: { severity: string };
  annotations: Record<string, string>;
};
const file = new URL("../../../../deploy/alerts/lifecycle.yaml", import.meta.url);
const { groups } = parse(readFileSync(file, "utf8")) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);

/** Metrics of an expression with their labels. */
function metricsOf(expr: string): { name: string; labels: string[] }[] {
  return [...expr.matchAll(/\b(svc_[a-z_]+)(?:\{([^}]*)\})?/g)].map(([, name = "", selector = ""]) => ({
    name,
    labels: [...selector.matchAll(/([a-z_]+)\s*(?:=~|!~|!=|=)/g)].map(([, label = ""]) => label),
  }));
}

describe("the shipped alerts", () => {
  test("are those of docs/reference/metrics.md that belong to lifecycle", () => {
    assert.deepEqual(
      rules.map(({ alert }) => alert),
      [
        "SlowServerStarts",
        "ServerFailed",
        "SystemServerDown",
        "ReconcileErrors",
        "ReconcileStuck",
        "OperatorDown",
      ],
    );
  });

  for (const { alert, expr, labels, annotations, ...rest } of rules) {
    test(`${alert} names metrics and labels that are exported, its severity and what to do`, async () => {
      const text = await exposed();
      const used = metricsOf(expr);
      assert.ok(used.length > 0, "the expression names no metric of ours");
      for (const metric of used) {
        const lines = text.split("\n").filter((line) => line.startsWith(metric.name));
        assert.ok(
          lines.some((line) => /^[{ ]/.test(line.slice(metric.name.length))),
          `${metric.name} is not exported`,
        );
        for (const label of metric.labels) {
          assert.ok(
            lines.some((line) => line.includes(`${label}="`)),
            `${metric.name} has no label ${label}`,
          );
        }
      }
      assert.match(labels.severity, /^(warning|critical)$/);
      assert.match(rest.for, /^\d+m$/);
      assert.ok(annotations["summary"] && annotations["action"]);
      const count = (bracket: string) => expr.split(bracket).length;
      assert.equal(count("("), count(")"));
    });
  }
});
