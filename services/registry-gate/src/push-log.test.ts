import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createPushLog } from "./push-log.ts";

test("a push is remembered over a restart, an older one counts as pushed when the log began", (t) => {
  const dir = mkdtempSync(join(tmpdir(), "svc-pushes-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const file = join(dir, "pushes.jsonl");
  let clock = 1_000;
  const warnings: string[] = [];
  const warn = (message: string) => void warnings.push(message);
  const open = () => createPushLog({ file, keptMs: 100, now: () => clock, warn });
  const first = open();
  assert.equal(first.pushedAt("a@x"), 1_000);
  clock = 1_050;
  first.record("a@x");
  // A crash in the middle of a line.
  appendFileSync(file, '{"manifest":"b@');
  clock = 1_120;
  const second = open();
  assert.equal(second.pushedAt("a@x"), 1_050);
  assert.equal(second.pushedAt("b@y"), 1_020, "what is older than the log is at least that old");
  clock = 1_200;
  assert.equal(open().pushedAt("a@x"), 1_100, "forgotten after its time");
  assert.equal(readFileSync(file, "utf8").split("\n").length, 2);
  writeFileSync(file, "broken\n");
  assert.equal(open().pushedAt("a@x"), 1_200);
  assert.match(warnings.join(), /is damaged; every manifest counts as pushed now/);
});
