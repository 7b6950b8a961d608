import assert from "node:assert/strict";
import { test } from "node:test";
import { shortMoment } from "./text.ts";

test("a moment for people is written to the minute, with its time zone", () => {
  for (const at of [
    "2026-01-02T03:04:05.678Z",
    "2026-01-02T04:04:05+01:00",
    new Date("2026-01-02T03:04:59Z"),
  ])
    assert.equal(shortMoment(at), "2026-01-02 03:04 UTC");
});
