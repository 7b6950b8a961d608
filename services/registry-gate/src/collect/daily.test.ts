import assert from "node:assert/strict";
import { mkdtempSync, rmSync, statSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { until } from "@svc/local-stack/testing";
import { createLogger } from "@svc/telemetry";
import { startDailyCollection } from "./daily.ts";
import { touch } from "./done-file.ts";

test("a collection starts when the last is old enough, not before, and a failed one is not repeated at once", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "svc-daily-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const doneFile = join(dir, "state", "collected");
  const day = 86_400_000;
  const codes = [1, 0];
  let runs = 0;
  const start = () =>
    startDailyCollection({
      doneFile,
      everyMs: day,
      checkEveryMs: 5,
      log: createLogger("registry-gate", "silent"),
      collect: async () => {
        const code = codes[runs++] ?? 0;
        if (code === 0) touch(doneFile);
        return code;
      },
    });
  const first = start();
  const age = (ms: number) => utimesSync(doneFile, new Date(), new Date(Date.now() - ms));
  age(day - 60_000);
  await first.stop();
  const second = start();
  await new Promise((done) => setImmediate(done));
  assert.equal(runs, 0, "a restart does not begin the day anew, nor end it early");
  age(day);
  await until(() => runs === 1);
  await second.stop();
  const third = start();
  await until(() => runs === 2);
  assert.ok(Date.now() - statSync(doneFile).mtimeMs < 60_000);
  await third.stop();
  assert.equal(runs, 2);
});
