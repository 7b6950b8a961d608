import assert from "node:assert/strict";
import { test } from "node:test";
import { maintenanceEnd } from "./window.ts";

test("maintenance ends with the last window that lasts now", () => {
  const one = (start: number, end: number, maintenance = true) => ({
    ...{ maintenance, start: new Date(start).toISOString(), end: new Date(end).toISOString() },
  });
  assert.equal(maintenanceEnd([one(0, 9), one(2, 20), one(3, 30, false), one(11, 40), one(1, 10)], 10), 20);
  assert.equal(maintenanceEnd([one(0, 10)], 10), undefined);
  assert.equal(maintenanceEnd([], 10), undefined);
});
