// The queries of the dashboards name metrics and labels that exist; tests/flow/newcomer.sampled.test.ts runs each.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, test } from "node:test";
import { dashboards } from "../../docs/generate/dashboards/all.ts";
import { knownMetrics, problemsOf } from "./promql.ts";

const folder = resolve(import.meta.dirname, "../../deploy/dashboards");
const metrics = knownMetrics();

type Shown = { panels: { id: number; gridPos: { x: number; y: number; w: number; h: number } }[] };

describe("the dashboards", () => {
  test("are those of deploy/dashboards, and docs/monitoring.md names each", () => {
    const names = dashboards.map(({ name }) => `${name}.json`);
    assert.deepEqual(readdirSync(folder).toSorted(), names.toSorted());
    const text = readFileSync(resolve(import.meta.dirname, "../../docs/monitoring.md"), "utf8");
    for (const name of names) assert.ok(text.includes(`\`${name}\``), name);
  });

  for (const { name, rows } of dashboards) {
    test(`${name} names existing metrics and labels`, () => {
      const queries = rows.flatMap(({ panels }) => panels.flatMap((panel) => panel.queries));
      assert.deepEqual(
        queries.flatMap(({ expr }) => problemsOf(expr, metrics)),
        [],
      );
      const legends = queries.filter(({ expr }) => /\bby \((?!le\))/.test(expr) && !/^min|^max\(/.test(expr));
      for (const { expr, legend } of legends) assert.match(legend ?? "", /\{\{\w+\}\}/, expr);
    });

    test(`${name} has panels with ids of their own that do not overlap`, () => {
      const { panels } = JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8")) as Shown;
      assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
      const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
        Array.from({ length: w * h }, (_, at) => `${x + (at % w)} ${y + Math.floor(at / w)}`),
      );
      assert.equal(new Set(cells).size, cells.length);
      for (const { gridPos } of panels) assert.ok(gridPos.x + gridPos.w <= 24);
    });
  }
});
