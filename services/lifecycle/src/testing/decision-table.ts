// Facts of decide as rows of a table: what is observed, and the plan for it.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Phase } from "@svc/proto";
import { decide } from "../reconcile/decide.ts";
import type { Observed } from "../reconcile/observed.ts";
import type { Plan } from "../reconcile/plan.ts";
import { now } from "./observed.ts";

type Row = {
  fact: string;
  observed: Observed;
  phase: Phase;
  /** Reason of Ready. */
  reason: string;
  /** Milliseconds to the next pass, or that there is none. */
  requeue: number | "on-change";
  effects?: string[];
  more?: (plan: Plan) => void;
};

export function conditionsOf(list: Plan["status"]["conditions"]): Record<string, string> {
  return Object.fromEntries((list ?? []).map(({ type, status, reason }) => [type, `${status}/${reason}`]));
}

function check(row: Row): void {
  const plan = decide(row.observed, now);
  assert.equal(plan.status.phase, row.phase);
  const ready = plan.status.conditions?.find(({ type }) => type === "Ready");
  assert.equal(ready?.reason ?? "", row.reason);
  assert.deepEqual(plan.requeue, row.requeue === "on-change" ? "on-change" : { afterMs: row.requeue });
  if (row.effects)
    assert.deepEqual(
      plan.effects.map(({ kind }) => kind),
      row.effects,
    );
  row.more?.(plan);
}

/** One test for each row, and one that a pass over its own result changes nothing. */
export function describeTable(title: string, rows: readonly Row[]): void {
  describe(title, () => {
    for (const row of rows) test(row.fact, () => check(row));
    test("a pass over its own result changes nothing", () => {
      for (const { observed } of rows.filter(({ phase }) => phase !== "Failed")) {
        const first = decide(observed, now);
        const again = decide({ ...observed, status: first.status }, now);
        assert.deepEqual(again.status.phase, first.status.phase);
        assert.deepEqual(again.status.startRequestedAt, first.status.startRequestedAt);
      }
    });
  });
}
