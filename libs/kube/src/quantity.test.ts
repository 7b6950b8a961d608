import assert from "node:assert/strict";
import { test } from "node:test";
import { canonicalQuantity, parseQuantity } from "./quantity.ts";

const canonical: Record<string, string> = {
  "1024Mi": "1Gi",
  "8Gi": "8Gi",
  "1500Mi": "1500Mi",
  "0.5": "500m",
  "1000m": "1",
  "1500m": "1500m",
  "1.5": "1500m",
  "1000": "1k",
  "0.5Gi": "512Mi",
  "512": "512",
  "2e3": "2e3",
  "0": "0",
  "0Gi": "0",
  "-1": "-1",
};

test("a quantity is written in its canonical form", () => {
  const found = Object.fromEntries(Object.keys(canonical).map((text) => [text, canonicalQuantity(text)]));
  assert.deepEqual(found, canonical);
});

test("what is not a quantity is refused", () => {
  for (const text of ["", "Gi", "1 Gi", "1GiB", "x", "1.2.3", "--1"])
    assert.equal(parseQuantity(text), undefined, text);
});
