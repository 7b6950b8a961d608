import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@svc/proto";
import { decideRedelivery } from "./redelivery.ts";

test("a temporary fault is retried after 1 s, doubled each time up to 5 min", () => {
  const delays = [1, 2, 3, 9, 10, 19].map((attempt) =>
    decideRedelivery(new Fault("unavailable"), attempt, 20),
  );
  assert.deepEqual(
    delays.map((fate) => (fate.kind === "later" ? fate.delayMs : fate.kind)),
    [1_000, 2_000, 4_000, 256_000, 300_000, 300_000],
  );
});

test("the seconds that a fault asks for are respected", () => {
  assert.deepEqual(decideRedelivery(new Fault("cooldown", { retryAfterSeconds: 30 }), 1, 20), {
    kind: "later",
    delayMs: 30_000,
  });
});

test("the last attempt ends as a dead letter", () => {
  assert.deepEqual(decideRedelivery(new Fault("unavailable"), 20, 20), { kind: "dead" });
});

test("a permanent fault and an unknown error become dead letters at once", () => {
  assert.deepEqual(decideRedelivery(new Fault("not_found"), 1, 20), { kind: "dead" });
  assert.deepEqual(decideRedelivery(new SyntaxError("bad body"), 1, 20), { kind: "dead" });
});
