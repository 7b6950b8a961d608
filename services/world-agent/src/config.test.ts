import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { limits, readSettings } from "./config.ts";

test("limits are those of docs/reference/exports.md#ticket, files.md, restore.md#plan, crashes.md#safe-start", () => {
  assert.deepEqual(limits, {
    stallMs: 120_000,
    keptMs: 600_000,
    listEntries: 5_000,
    asideFiles: 500,
    changes: { files: 1_000, bytes: 512 * 1_024 },
    planReading: { bytes: 1_073_741_824, timeMs: 30_000 },
    readBytes: 1_048_576,
    search: {
      ...{ matches: 200, matchBytes: 524_288, lines: 5, fileBytes: 4_194_304 },
      ...{ entries: 200_000, bytes: 268_435_456, timeMs: 45_000 },
    },
    archive: { entries: 20_000, bytes: 1_073_741_824, leftOut: 20 },
    plugins: 300,
    previousBytes: 262_144,
    progressEveryMs: 1_000,
  });
});

test("token and content are files, and an environment gives neither", (t) => {
  const secret = mkdtempSync(join(tmpdir(), "svc-agent-"));
  t.after(() => rmSync(secret, { recursive: true }));
  const env = { SVC_TASK: JSON.stringify({ mode: "mkdir", path: "a" }), SVC_TASK_TOKEN: "from outside" };
  assert.equal(readSettings([], env).token, "");
  assert.throws(() => readSettings([], env).content(), /content .* is missing/);
  assert.throws(() => readSettings([`--secret=${secret}`], env).content(), /content .* is missing/);
  assert.throws(() => readSettings([`--secret=${secret}`], env).parts(), /parts .* is missing/);
  writeFileSync(join(secret, "token"), "once\n");
  writeFileSync(join(secret, "content"), "");
  const settings = readSettings([`--secret=${secret}`], env);
  assert.deepEqual([settings.token, settings.content().length], ["once", 0]);
  writeFileSync(join(secret, "content"), Buffer.from([0, 255, 10]));
  assert.deepEqual([...settings.content()], [0, 255, 10]);
});

test("a Job without a task, or with one that nobody knows, fails", () => {
  assert.throws(() => readSettings([], {}), /SVC_TASK is missing/);
  assert.throws(() => readSettings([], { SVC_TASK: '{"mode":"format"}' }));
});
