import assert from "node:assert/strict";
import { test } from "node:test";
import { readable } from "./commands.ts";

test("tags and the time of a start are words, and the rest stays as it is", () => {
  const status = { name: "survival", tags: [{ name: "event", colour: "red" as const }] };
  assert.deepEqual(readable({ ...status, startEstimate: { p50: 2, p95: 3 } }), {
    ...{ name: "survival", tags: "event (red)" },
    starts: "within 2 s mostly, 3 s at times",
  });
  assert.deepEqual(readable({ name: "survival" }), { name: "survival" });
});
