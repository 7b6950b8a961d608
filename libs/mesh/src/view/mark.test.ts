import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeMark, markedAt } from "./mark.ts";

const message = (body: Uint8Array) => ({
  subject: "$KV.servers._meta",
  headers: undefined,
  body,
  sequence: 7,
  timestampNs: 0n,
  isPublished: true,
});
const text = (body: unknown) => message(new TextEncoder().encode(JSON.stringify(body)));

test("a mark counts for the bucket that it was made for and for no other", () => {
  const mark = message(encodeMark("2026-11-22T16:00:00Z", 2));
  assert.ok(Math.abs((markedAt(mark, "2026-11-22T16:00:00Z") ?? 0) - Date.now()) < 60_000);
  assert.equal(markedAt(mark, "2026-11-22T17:00:00Z"), undefined);
});

test("a mark of an older release, which does not name its bucket, counts for any", () => {
  const at = "2026-11-22T16:00:00.000Z";
  assert.equal(markedAt(text({ at, size: 2 }), "2026-11-22T17:00:00Z"), Date.parse(at));
});

test("a mark from the future counts from now, and what is not a mark does not count", () => {
  assert.ok((markedAt(text({ at: "2999-01-01T00:00:00Z" }), "") ?? 0) <= Date.now());
  for (const body of [{ size: 2 }, { at: "soon" }, "mark", null])
    assert.equal(markedAt(text(body), ""), undefined);
  assert.equal(markedAt(message(new TextEncoder().encode("{")), ""), undefined);
});
