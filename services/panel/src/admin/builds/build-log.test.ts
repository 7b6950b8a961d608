import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createBlockParser } from "../../api/event-blocks.ts";
import { currentStep, durationMs, eventOf } from "./build-log.ts";

const eventsOf = (text: string) => createBlockParser()(text).flatMap((block) => eventOf(block) ?? []);

describe("the stream of a log", () => {
  const cases = [
    [
      "a line has its number",
      "id: 12\ndata: STEP 1: FROM base\n\n",
      [{ kind: "line", id: 12, text: "STEP 1: FROM base" }],
    ],
    ["an empty line is a line", "id: 3\ndata: \n\n", [{ kind: "line", id: 3, text: "" }]],
    [
      "a step says how it stands",
      'id: 4\nevent: step\ndata: {"name":"build","state":"running"}\n\n',
      [{ kind: "step", step: { name: "build", state: "running" } }],
    ],
    [
      "a step of a later release says nothing",
      'event: step\ndata: {"name":"bake","state":"running"}\n\n',
      [],
    ],
    ["a step that is cut says nothing", 'event: step\ndata: {"name":"bu\n\n', []],
    ["the end is the end", 'event: end\ndata: {"status":"failed"}\n\n', [{ kind: "end" }]],
    ["a right that is gone ends it", "event: revoked\ndata: \n\n", [{ kind: "revoked" }]],
    ["missing lines are counted", ": 7 lines were dropped\n\n", [{ kind: "dropped", count: 7 }]],
    ["a comment keeps the line open", ": keep-alive\n\n", []],
    ["half a block waits", "id: 1\ndata: ha", []],
  ] as const;
  for (const [name, text, expected] of cases) test(name, () => assert.deepEqual(eventsOf(text), expected));
});

test("lines belong to the last step that has begun, also when earlier ones are repeated", () => {
  assert.equal(currentStep(undefined, { name: "build", state: "running" }), "build");
  assert.equal(currentStep("build", { name: "sbom", state: "skipped" }), "build");
  assert.equal(currentStep("build", { name: "scan", state: "failed" }), "scan");
  assert.equal(currentStep("build", { name: "context-fetch", state: "running" }), "build");
});

test("a step takes from its start to its end, or until now", () => {
  const startedAt = "2026-11-22T10:00:00Z";
  const now = Date.parse("2026-11-22T10:00:30Z");
  assert.equal(durationMs({}, now), undefined);
  assert.equal(durationMs({ startedAt }, now), 30_000);
  assert.equal(durationMs({ startedAt, finishedAt: "2026-11-22T10:00:05Z" }, now), 5_000);
});
