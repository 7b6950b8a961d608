import assert from "node:assert/strict";
import { test } from "node:test";
import { leaseTimes } from "./scheduler.ts";

test("the lease lasts one tick, but no shorter than other leases, and is renewed in proportion", () => {
  const others = { lease_duration: 6_000, lease_renew: 2_000 };
  assert.deepEqual(leaseTimes({ ...others, schedule_tick: 15_000 }), { durationMs: 15_000, renewMs: 5_000 });
  assert.deepEqual(leaseTimes({ ...others, schedule_tick: 100 }), { durationMs: 6_000, renewMs: 2_000 });
});
