import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createLogger } from "@svc/telemetry";
import { unexpectedErrors } from "./logged-errors.ts";

test("error lines of services are found, others and expected ones are not", () => {
  const dir = mkdtempSync(join(tmpdir(), "svc-logs-"));
  mkdirSync(join(dir, "logs"));
  const line = (level: string, msg: string) => JSON.stringify({ level, service: "storage", msg });
  const lines = [
    line("info", "ready"),
    line("warn", "the connection to NATS is lost; reconnecting"),
    line("error", "an archive is gone"),
    line("fatal", "out of memory"),
    line("error", "an audit entry could not be published"),
    '[17] 2026/11/22 10:00:00 [ERR] of nats-server, {"level":"error"}',
    '{"level":"error","msg":"cut off in the mid',
  ];
  writeFileSync(join(dir, "logs", "storage.log"), lines.join("\n"));
  const found = unexpectedErrors(dir, [/audit entry/]);
  assert.deepEqual(
    found.map((one) => one.replace(/^storage\.log: /, "")),
    [lines[2], lines[3]],
  );
  assert.deepEqual(unexpectedErrors(join(dir, "nothing"), []), []);
  rmSync(dir, { recursive: true });
});

test("services log the level as a word", () => {
  const logger = createLogger("storage", "silent") as unknown as { levels: { labels: object } };
  assert.ok(Object.values(logger.levels.labels).includes("error"));
});
