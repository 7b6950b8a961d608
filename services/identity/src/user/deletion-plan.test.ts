import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@svc/proto";
import { decideDeletion, decideOutcome, type Observed, type StepOutcome } from "./deletion-plan.ts";

const now = new Date("2026-01-01T00:00:00Z");
const retryAt = new Date("2026-01-01T00:00:15Z");
const down = new Fault("unavailable");

const requests: [what: string, user: Observed["user"], wanted: ReturnType<typeof decideDeletion>][] = [
  [
    "the account of a user is closed, and due at once",
    { id: "b", role: "user" },
    { act: "close_account", state: "closed", requeueAt: now },
  ],
  [
    "an admin is deleted like a user",
    { id: "b", role: "admin" },
    { act: "close_account", state: "closed", requeueAt: now },
  ],
  ["a user who is already deleted is not found", undefined, { act: "refuse", fault: "not_found" }],
  [
    "users cannot delete themselves",
    { id: "caller", role: "admin" },
    { act: "refuse", fault: "self_protected" },
  ],
  ["the owner cannot be deleted", { id: "b", role: "owner" }, { act: "refuse", fault: "owner_protected" }],
];
for (const [what, user, wanted] of requests) {
  test(what, () => assert.deepEqual(decideDeletion({ user, callerId: "caller" }, now), wanted));
}

const outcomes: [what: string, outcome: StepOutcome, wanted: ReturnType<typeof decideOutcome>][] = [
  [
    "released servers end the deletion",
    { released: ["a", "b"] },
    { act: "end", released: 2, state: "released", requeueAt: null },
  ],
  [
    "an empty release ends the deletion too",
    { released: [] },
    { act: "end", released: 0, state: "released", requeueAt: null },
  ],
  [
    "after any failure the account stays closed, and the release is retried",
    { error: down },
    { act: "retry", error: down, state: "closed", requeueAt: retryAt },
  ],
];
for (const [what, outcome, wanted] of outcomes) {
  test(what, () => assert.deepEqual(decideOutcome(outcome, retryAt), wanted));
}
