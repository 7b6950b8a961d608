import assert from "node:assert/strict";
import { test } from "node:test";
import { isInSetup } from "./policy.ts";

test("a verified e-mail ends setup only while there is a relay", () => {
  const owner = { role: "owner", emailVerified: true, hasPasskey: false } as const;
  assert.equal(isInSetup(owner, true), false);
  assert.equal(isInSetup(owner, false), true);
  assert.equal(isInSetup({ ...owner, hasPasskey: true }, false), false);
});
