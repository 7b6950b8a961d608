import assert from "node:assert/strict";
import { test } from "node:test";
import { wakeOutcome } from "./wake.ts";

const rows: [string, number, string, ReturnType<typeof wakeOutcome>][] = [
  ["an accepted wake queues", 202, "", { queue: true, retryAfterMs: undefined }],
  ["a cooldown queues and is asked again", 429, "cooldown", { queue: true, retryAfterMs: 30_000 }],
  ["a refusal tells the player and stops", 403, "forbidden", { queue: false, sentence: "wakeForbidden" }],
  ["a wrong token is not told as a refusal", 403, "wrong_caller", { queue: false, sentence: "tryAgain" }],
  ["maintenance queues nobody", 409, "maintenance_in_progress", { queue: false, sentence: "maintenance" }],
  ["a world being archived queues nobody", 409, "world_reclaiming", { queue: false, sentence: "reclaiming" }],
  ["a start that failed queues nobody", 409, "start_failed", { queue: false, sentence: "startFailed" }],
  ["a retiring server queues nobody", 409, "server_retiring", { queue: false, sentence: "retiring" }],
  ["a full platform queues nobody", 503, "at_capacity", { queue: false, sentence: "atCapacity" }],
  ["a service that is down queues nobody", 503, "unavailable", { queue: false, sentence: "serviceDown" }],
  ["no answer is to be tried again", 0, "", { queue: false, sentence: "tryAgain" }],
  ["an error of the service is to be tried again", 500, "internal", { queue: false, sentence: "tryAgain" }],
  ["a server deleted meanwhile is gone", 404, "not_found", { queue: false, sentence: "serverGone" }],
];
for (const [name, status, code, outcome] of rows) {
  test(name, () => assert.deepEqual(wakeOutcome({ status, code }), outcome));
}

test("the cooldown shown to the player is the one that is waited for", () => {
  assert.deepEqual(wakeOutcome({ status: 429, code: "cooldown", retryAfterSeconds: 7 }), {
    queue: true,
    retryAfterMs: 7_000,
  });
});
