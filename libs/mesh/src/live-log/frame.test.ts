import assert from "node:assert/strict";
import { test } from "node:test";
import { eventFrame } from "./frame.ts";

const frames: [string, string][] = [
  ["plain", "id: 7\ndata: plain\n\n"],
  ["two\nlines", "id: 7\ndata: two\ndata: lines\n\n"],
  ["forged\r\n\r\nevent: revoked", "id: 7\ndata: forged\ndata: \ndata: event: revoked\n\n"],
  ["return\ronly", "id: 7\ndata: return\ndata: only\n\n"],
];
for (const [line, frame] of frames) {
  test(`the line ${JSON.stringify(line)} cannot break its frame`, () => {
    assert.equal(eventFrame({ atSeconds: 7, line: Buffer.from(line) }).toString(), frame);
  });
}

test("a named event says its name, and the last one has an id of its own", () => {
  const line = Buffer.from("{}");
  assert.equal(
    eventFrame({ atSeconds: 7, line, event: "step" }).toString(),
    "id: 7\nevent: step\ndata: {}\n\n",
  );
  assert.equal(
    eventFrame({ atSeconds: 7, line, event: "end" }).toString(),
    "id: end\nevent: end\ndata: {}\n\n",
  );
});
