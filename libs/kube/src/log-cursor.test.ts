import assert from "node:assert/strict";
import { test } from "node:test";
import { createCursorTracker, encodeCursor, type LogCursor, parseCursor } from "./log-cursor.ts";

test("a cursor survives encoding; anything else is none", () => {
  const position = { pod: "8f2b-uid", atNs: 1_767_225_600_123_456_789n, ordinal: 17 };
  assert.deepEqual(parseCursor(encodeCursor(position)), position);
  for (const text of [undefined, "", "x", "pod -1 0", "pod 1 0 1", "pod 1 1.5"])
    assert.equal(parseCursor(text), undefined);
});

test("whoever takes over reads every line once, wherever the last one stopped", () => {
  // Many lines share a time, as from a node agent that polls every 20 ms.
  const moments = [1n, 1n, 1n, 2n, 3n, 3n, 3n, 3n, 7n, 7n];
  const all = (() => {
    const place = createCursorTracker("pod", undefined);
    return moments.map((at) => place(at) as LogCursor);
  })();
  assert.equal(new Set(all.map(encodeCursor)).size, moments.length);
  for (const [index, after] of all.entries()) {
    // The log is read from the time of the last line on, or from an earlier one.
    for (const from of [after.atNs, 0n]) {
      const place = createCursorTracker("pod", after);
      const read = moments.filter((at) => at >= from).flatMap((at) => place(at) ?? []);
      assert.deepEqual(read, all.slice(index + 1));
    }
  }
});

test("another pod's lines are all new, also when its node's clock is behind", () => {
  const place = createCursorTracker("new", { pod: "old", atNs: 100n, ordinal: 0 });
  assert.deepEqual(place(5n), { pod: "new", atNs: 5n, ordinal: 0 });
});
