// Compares the shipped alert rules with the metrics in the code: a rule for a missing metric never fires.

import assert from "node:assert/strict";
import { globSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, test } from "node:test";
import { parse } from "yaml";

const root = resolve(import.meta.dirname, "../..");
const folder = join(root, "deploy/alerts");
type Rule = {
  alert: string;
  expr: string;
  for: string;
  labels: { severity: string };
  annotations: Record<string, string>;
};

/** Every metric that the code makes, with the names of its labels where they stand beside it. */
function exported(): Map<string, string[] | undefined> {
  const files = globSync("{libs,services}/*/src/**/*.ts", { cwd: root }).filter((file) => !/test/.test(file));
  const metrics = new Map<string, string[] | undefined>();
  for (const file of files) {
    const text = readFileSync(join(root, file), "utf8");
    // Made through a helper of its file: known by name only.
    for (const [, name = ""] of text.matchAll(/"(svc_[a-z_]+)"/g)) metrics.set(name, metrics.get(name));
    for (const [, name = "", rest = ""] of text.matchAll(/name: "(svc_[a-z_]+)",([^}]{0,400})/g)) {
      const labels = /labelNames: \[([^\]]*)\]/.exec(rest)?.[1] ?? "";
      metrics.set(
        name,
        [...labels.matchAll(/"([a-z_]+)"/g)].map(([, label = ""]) => label),
      );
    }
  }
  return metrics;
}

const metrics = exported();
const rules = readdirSync(folder).flatMap((file) => {
  const { groups } = parse(readFileSync(join(folder, file), "utf8")) as { groups: { rules: Rule[] }[] };
  return groups.flatMap((group) => group.rules);
});

describe("the shipped alerts", () => {
  test("have unique names", () => {
    const names = rules.map(({ alert }) => alert);
    assert.deepEqual(names, [...new Set(names)]);
  });

  for (const { alert, expr, labels, annotations, ...rule } of rules) {
    test(`${alert} has existing metrics and labels, a severity and a description of what to do`, () => {
      const used = [
        ...expr.matchAll(/\b(svc_[a-z_]+?)(?:_bucket|_sum|_count)?(?:\{([^}]*)\})?(?=[^a-z_]|$)/g),
      ];
      assert.ok(used.length > 0);
      for (const [, name = "", selector = ""] of used) {
        const known = metrics.get(name);
        assert.ok(metrics.has(name), `nobody exports ${name}`);
        for (const [, label = ""] of selector.matchAll(/([a-z_]+)\s*(?:=~|!~|!=|=)/g))
          assert.ok(known?.includes(label) ?? true, `${name} has no label ${label}`);
      }
      assert.match(labels.severity, /^(warning|critical)$/);
      assert.match(rule.for, /^\d+m$/);
      assert.ok(annotations["summary"] && annotations["action"]);
      assert.equal(expr.split("(").length, expr.split(")").length);
    });
  }
});
