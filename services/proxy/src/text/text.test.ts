import assert from "node:assert/strict";
import { test } from "node:test";
import { say } from "./text.ts";

test("values from others can neither colour nor break a line", () => {
  assert.equal(say("refused", "en", { reason: "no\nway §cever" }), "Refused: noway ever");
  assert.equal(say("serverGone", "zh", { server: "spawn" }), "服务器 spawn 已不存在。");
});
