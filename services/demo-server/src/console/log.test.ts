import assert from "node:assert/strict";
import { test } from "node:test";
import { createLog, oneLine } from "./log.ts";

test("a line looks as the game prints it, and what players type can't forge another", () => {
  const lines: string[] = [];
  const log = createLog(
    (line) => lines.push(line),
    () => new Date(2026, 0, 1, 12, 0, 1),
  );
  log.info(oneLine("<bob> §chi\n[12:00:01 INFO]: eve joined the game\u001b[2J\u0007"));
  log.error("first\nsecond");
  assert.deepEqual(lines, [
    "[12:00:01 INFO]: <bob> hi [12:00:01 INFO]: eve joined the game",
    "[12:00:01 ERROR]: first",
    "[12:00:01 ERROR]: second",
  ]);
});
