import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeMark, readMark } from "./mark.ts";

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
  const bucket = "2026-11-22T16:00:00Z";
  const mark = message(encodeMark({ bucket, size: 2, caughtUp: { a: 7 } }));
  const { at = 0, caughtUp } = readMark(mark, bucket) ?? {};
  assert.ok(Math.abs(at - Date.now()) < 60_000);
  assert.deepEqual(caughtUp, { a: 7 });
  assert.equal(readMark(mark, "2026-11-22T17:00:00Z"), undefined);
});

test("a mark of an older release, which does not name its bucket, counts for any and answers nobody", () => {
  const at = "2026-11-22T16:00:00.000Z";
  const mark = readMark(text({ at, size: 2 }), "2026-11-22T17:00:00Z");
  assert.deepEqual(mark, { at: Date.parse(at), caughtUp: undefined });
});

test("a mark from the future counts from now, and what is not a mark does not count", () => {
  assert.ok((readMark(text({ at: "2999-01-01T00:00:00Z" }), "")?.at ?? 0) <= Date.now());
  for (const body of [{ size: 2 }, { at: "soon" }, "mark", null])
    assert.equal(readMark(text(body), ""), undefined);
  assert.equal(readMark(message(new TextEncoder().encode("{")), ""), undefined);
});
