import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { backgroundHeaders, isAbsent, onReturn, watchActivity } from "./activity.ts";

test("nobody is there after 15 minutes without a hand, until one comes", () => {
  mock.timers.enable({ apis: ["Date"], now: Date.now() });
  const page = new EventTarget();
  watchActivity(page);
  page.dispatchEvent(new Event("keydown"));
  let returns = 0;
  const stop = onReturn(() => returns++);
  mock.timers.tick(15 * 60_000 - 1);
  assert.equal(isAbsent(), false);
  mock.timers.tick(1);
  assert.equal(isAbsent(), true);
  page.dispatchEvent(new Event("pointermove"));
  page.dispatchEvent(new Event("pointermove"));
  assert.deepEqual([isAbsent(), returns], [false, 1]);
  stop();
  mock.timers.reset();
});

test("what is sent a minute after the last hand is marked as nobody's", () => {
  mock.timers.enable({ apis: ["Date"], now: Date.now() });
  const page = new EventTarget();
  watchActivity(page);
  page.dispatchEvent(new Event("keydown"));
  mock.timers.tick(60_000 - 1);
  assert.deepEqual(backgroundHeaders(), {});
  mock.timers.tick(1);
  assert.deepEqual(backgroundHeaders(), { "x-svc-background": "true" });
  page.dispatchEvent(new Event("wheel"));
  assert.deepEqual(backgroundHeaders(), {});
  mock.timers.reset();
});
