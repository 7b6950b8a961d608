// The shipped alert rules: their names exist, and each fires on what it is about and on nothing else. A rule for a missing
// metric never fires.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, test } from "node:test";
import { parse, stringify } from "yaml";
import { type AlertCase, cases } from "./alert-cases.ts";
import { healthy, healthyForDays } from "./alert-healthy.ts";
import { knownMetrics, problemsOf } from "./promql.ts";

const root = resolve(import.meta.dirname, "../..");
const folder = join(root, "deploy/alerts");
const lane = process.env["SVC_PROMETHEUS_LANE"];
const skip = lane === undefined && "SVC_PROMETHEUS_LANE is not set: no promtool";

type Rule = {
  alert: string;
  expr: string;
  for: string;
  labels: { severity: string };
  annotations: { summary: string; description: string; reference: string };
};

const files = readdirSync(folder).filter((file) => file.endsWith(".yaml"));
const rulesOf = new Map(
  files.map((file) => {
    const { groups } = parse(readFileSync(join(folder, file), "utf8")) as { groups: { rules: Rule[] }[] };
    return [file, groups.flatMap((group) => group.rules)];
  }),
);
const rules = [...rulesOf.values()].flat();

describe("the shipped alerts", () => {
  const metrics = knownMetrics();

  test("have unique names, and each has a case", () => {
    const names = rules.map(({ alert }) => alert);
    assert.deepEqual(names, [...new Set(names)]);
    assert.deepEqual(names.toSorted(), cases.map(({ alert }) => alert).toSorted());
  });

  test("docs/monitoring.md names each under a symptom", () => {
    const symptoms = readFileSync(join(root, "docs/monitoring.md"), "utf8").split("## By symptom")[1] ?? "";
    const missing = rules.filter(
      ({ alert }) => !symptoms.includes(`[${alert}](reference/alert-rules.md#${alert.toLowerCase()})`),
    );
    assert.deepEqual(
      missing.map(({ alert }) => alert),
      [],
    );
  });

  for (const { alert, expr, labels, annotations, ...rule } of rules) {
    test(`${alert} names existing metrics and labels, a severity, what to do and where to read on`, () => {
      assert.deepEqual(problemsOf(expr, metrics), []);
      assert.match(labels.severity, /^(warning|critical)$/);
      assert.match(rule.for, /^\d+[mh]$/);
      assert.match(annotations.summary, /\.$/);
      assert.match(annotations.description, /\.$/);
      assert.match(annotations.reference, /^docs\/reference\/[\w-]+\.md#[\w-]+$/);
    });
  }

  test("a query with a metric or a label that does not exist is noticed", () => {
    assert.deepEqual(problemsOf("sum by (server) (svc_nowhere_total)"), [
      "nothing exports svc_nowhere_total",
      "no metric has the label server",
    ]);
    assert.deepEqual(problemsOf('svc_servers_total{server="a"}'), ["svc_servers_total has no label server"]);
  });
});

describe("promtool", { skip }, () => {
  const promtool = (...args: string[]) => spawnSync(join(lane ?? "", "promtool"), args, { encoding: "utf8" });

  test("accepts every rule", () => {
    const { status, stdout, stderr } = promtool("check", "rules", ...files.map((file) => join(folder, file)));
    assert.equal(status, 0, stdout + stderr);
  });

  test("every alert fires on what it is about, and none on a healthy platform", () => {
    const dir = mkdtempSync(join(tmpdir(), "svc-alerts-"));
    const units = files.flatMap((file) =>
      unitsOf(file).map((unit, index) => {
        const path = join(dir, `${index}-${file}`);
        writeFileSync(path, stringify(unit));
        return path;
      }),
    );
    const { status, stdout, stderr } = promtool("test", "rules", ...units);
    rmSync(dir, { recursive: true });
    assert.equal(status, 0, stdout + stderr);
  });
});

/** One unit for alerts that fire within minutes, and one in steps of an hour: promtool evaluates every step. */
function unitsOf(file: string) {
  const names = new Set(rulesOf.get(file)?.map(({ alert }) => alert));
  const ours = cases.filter(({ alert }) => names.has(alert));
  const isSlow = ({ at }: AlertCase) => at.endsWith("h");
  const silentAt = (alerts: Iterable<string>, times: readonly string[]) =>
    [...alerts].flatMap((alertname) => times.map((eval_time) => ({ eval_time, alertname, exp_alerts: [] })));
  const unit = (interval: string, some: AlertCase[], silent: object) => ({
    rule_files: [join(folder, file)],
    evaluation_interval: interval,
    tests: [...some.map((one) => ({ interval, ...firing(one) })), { interval, ...silent }],
  });
  const slow = ours.filter(isSlow);
  return [
    unit(
      "1m",
      ours.filter((one) => !isSlow(one)),
      {
        input_series: seriesOf(healthy),
        alert_rule_test: silentAt(names, ["15m", "3h"]),
      },
    ),
    unit("1h", slow, {
      input_series: seriesOf(healthyForDays),
      alert_rule_test: silentAt(
        slow.map(({ alert }) => alert),
        ["30h", "240h"],
      ),
    }),
  ];
}

const seriesOf = (series: Readonly<Record<string, string>>) =>
  Object.entries(series).map(([name, values]) => ({ series: name, values }));

function firing({ alert, series, at, labels = {} }: AlertCase) {
  const rule = rules.find((one) => one.alert === alert);
  assert.ok(rule, `there is no alert ${alert}`);
  const fill = (text: string) =>
    text.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, name: string) => labels[name] ?? "");
  const { summary, description, reference } = rule.annotations;
  const exp_annotations = { summary: fill(summary), description: fill(description), reference };
  const exp_alerts = [{ exp_labels: { ...rule.labels, ...labels }, exp_annotations }];
  return {
    input_series: seriesOf(series),
    alert_rule_test: [{ eval_time: at, alertname: alert, exp_alerts }],
  };
}
