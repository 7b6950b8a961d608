import assert from "node:assert/strict";
import { test } from "node:test";
import { decideStep } from "./transfer-step.ts";

const at = "2026-01-02T03:04:05.000Z";
const until = Date.parse(at);

for (const [view, step] of [
  [{ active: false }, { at: "start" }],
  [{ active: true, state: "initiated" }, { at: "confirm" }],
  [
    { active: true, state: "confirmed", confirm_expires_at: at },
    { at: "choose", until },
  ],
  [
    { active: true, state: "code_issued", target_user_id: "usr-2", code_expires_at: at },
    { at: "issued", until },
  ],
  [
    { active: true, state: "confirmed" },
    { at: "choose", until: 0 },
  ],
] as const) {
  test(`a transfer that is ${JSON.stringify(view)} asks for: ${step.at}`, () => {
    assert.deepEqual(decideStep(view), step);
  });
}
