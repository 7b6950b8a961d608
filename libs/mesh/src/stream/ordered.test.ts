import assert from "node:assert/strict";
import { test } from "node:test";
import { nanosOf } from "./direct-get.ts";

test("a server's time keeps all of its digits", () => {
  assert.equal(nanosOf("2026-01-02T03:04:05.123456789Z"), 1_767_323_045_123_456_789n);
  assert.equal(nanosOf("2026-01-02T03:04:05Z"), 1_767_323_045_000_000_000n);
  assert.equal(nanosOf("2026-01-02T04:04:05.5+01:00"), 1_767_323_045_500_000_000n);
});
