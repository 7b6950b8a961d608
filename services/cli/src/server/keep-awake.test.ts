import assert from "node:assert/strict";
import { test } from "node:test";
import { keptText } from "./keep-awake.ts";

test("a server is kept awake until a time of this machine, said in UTC too", () => {
  const local = new Date(2026, 10, 29, 22, 0);
  const text = keptText("survival", local);
  assert.equal(
    text,
    `survival is not stopped for being empty until Sun Nov 29 2026 22:00 (${local.toISOString().slice(0, 19)}Z).`,
  );
});
