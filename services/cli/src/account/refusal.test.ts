import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ApiError } from "@svc/client";
import { CommandError, explainError } from "../output.ts";
import { explain, isCode, isRefusal, RefusedError, whenKnown } from "./refusal.ts";

const refusal = (status: number, code: string, message: string, retryAfterSeconds?: number) =>
  new ApiError(message, { status, code, requestId: "r-1", retryAfterSeconds });

describe("a refused call in words", () => {
  const cases: [what: string, error: unknown, text: RegExp][] = [
    [
      "has its code and request",
      refusal(409, "name_taken", "There is a server of that name."),
      /name_taken, request r-1\)$/,
    ],
    ["says how long to wait", refusal(429, "cooldown", "Wait.", 7), /^Wait\. Try again in 7 s\. \(cooldown/],
    ["names the way back in", refusal(401, "unauthorized", "No."), /session has ended.*`svc account login`/],
    ["names the setup", refusal(403, "setup_required", "Finish setup first."), /`svc account setup --email/],
    ["keeps what is not a refusal", new TypeError("fetch failed"), /^fetch failed$/],
  ];
  for (const [what, error, text] of cases) test(what, () => assert.match(explainError(explain(error)), text));
});

test("code and wait stay readable for commands that go on", () => {
  const refused = explain(refusal(429, "cooldown", "Wait.", 7));
  assert.ok(refused instanceof RefusedError && refused instanceof CommandError);
  assert.deepEqual([isCode(refused, "cooldown"), isCode(refused, "forbidden")], [true, false]);
  assert.equal(refused.retryAfterSeconds, 7);
  assert.equal(isRefusal(refusal(403, "forbidden", "No."), "not_found", "forbidden"), true);
  assert.equal(isRefusal(new Error("forbidden"), "forbidden"), false);
});

describe("a call that was refused before the gateway knew whose it is", () => {
  const unknown = refusal(503, "auth_unavailable", "Accounts are unavailable.", 0);
  const run = async (errors: readonly Error[]) => {
    let calls = 0;
    const answer = await whenKnown(async () => {
      const error = errors[calls++];
      if (error) throw error;
      return "done";
    }).catch((error: Error) => error);
    return { calls, answer };
  };
  test("is made again", async () => {
    assert.deepEqual(await run([unknown, unknown]), { calls: 3, answer: "done" });
  });
  test("is given up in the end", async () => {
    assert.deepEqual(await run([unknown, unknown, unknown]), { calls: 3, answer: unknown });
  });
  test("is the only one: another may have been carried out", async () => {
    const other = refusal(503, "unavailable", "Try again.", 0);
    assert.deepEqual(await run([other]), { calls: 1, answer: other });
  });
});
