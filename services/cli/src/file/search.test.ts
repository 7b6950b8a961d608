import assert from "node:assert/strict";
import { test } from "node:test";
import { remarks } from "./search.ts";

test("what a search left out is counted in words", () => {
  const none = { large: 0, binary: 0, protected: 0, unreadable: 0 };
  assert.deepEqual(remarks({ stopped: null, left_out: none }), []);
  assert.deepEqual(remarks({ stopped: "matches", left_out: { ...none, binary: 1, large: 2 } }), [
    "Not everything was searched: more was found than is shown. Search a smaller folder.",
    "Left out: 2 files that are too large, 1 file that is no text.",
  ]);
});
