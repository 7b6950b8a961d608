import assert from "node:assert/strict";
import { test } from "node:test";
import { hardwareChanges, isQuantity } from "./hardware-form.ts";

test("quantities of the cluster are told from other texts", () => {
  for (const text of ["2Gi", "512Mi", "1500m", "0.5", "4", "2048M"])
    assert.equal(isQuantity(text), true, text);
  for (const text of ["", "0", "0Gi", "-1Gi", "2 Gi", "2GB", "two", "1e3"])
    assert.equal(isQuantity(text), false, text);
});

test("only what differs is sent, and an emptied processor is sent as no limit", () => {
  const before = { memory: "2Gi", cpu: "2" };
  assert.equal(hardwareChanges(before, before), undefined);
  assert.deepEqual(hardwareChanges(before, { ...before, memory: "4Gi" }), { memory: "4Gi" });
  assert.deepEqual(hardwareChanges(before, { ...before, cpu: "" }), { resources: { cpu: "" } });
});
