import assert from "node:assert/strict";
import { test } from "node:test";
import { createLoginBudget } from "./budget.ts";

const rate = { burst: 3, everyMs: 2_000 };

test("an address has its burst of logins, then one every two seconds", () => {
  let now = 0;
  const spend = createLoginBudget(rate, () => now);
  assert.deepEqual([spend("203.0.113.9"), spend("203.0.113.9"), spend("203.0.113.9")], [0, 0, 0]);
  assert.equal(spend("203.0.113.9"), 2_000);
  assert.equal(spend("203.0.113.10"), 0);
  now = 2_000;
  assert.equal(spend("203.0.113.9"), 0);
  assert.equal(spend("203.0.113.9"), 2_000);
});

test("all addresses of an IPv6 /64 share one budget, those of the next have their own", () => {
  const spend = createLoginBudget(rate, () => 0);
  const logins = ["2001:db8::1", "2001:db8:0:0:ffff::2", "2001:0db8::3:4:5:6", "2001:db8::7"].map(spend);
  assert.deepEqual(logins, [0, 0, 0, 2_000]);
  assert.equal(spend("2001:db8:0:1::1"), 0);
});

test("logins from ever new addresses take bounded memory", () => {
  let now = 0;
  const spend = createLoginBudget(rate, () => now);
  for (let index = 0; index < 70_000; index++)
    spend(`2001:db8:${(index >> 8).toString(16)}:${index & 255}::1`);
  assert.equal(spend.size(), 65_536);
  now = 6_000;
  spend("203.0.113.9");
  assert.equal(spend.size(), 1);
});
