import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { until } from "@svc/local-stack/testing";
import { isAlive } from "./processes.ts";
import { launch } from "./run.ts";

it("a run that was killed has ended when its program is dead, not when only its shell is", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "svc-run-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  // It dies only when a processor has time for it.
  const program = [
    "chrt",
    "--idle",
    "0",
    process.execPath,
    "-e",
    "console.log('up'); setInterval(() => {}, 1e9)",
  ];
  const run = await launch({ dir, argv: program, env: { PATH: "/usr/bin:/bin" }, cwd: dir });
  await until(() => readFileSync(join(dir, "log"), "utf8") === "up\n");
  const pid = Number(readFileSync(join(dir, "pid"), "utf8"));
  const busy = Array.from({ length: availableParallelism() }, () =>
    spawn(process.execPath, ["-e", "console.log(); for (;;);"]),
  );
  t.after(() => {
    for (const child of busy) child.kill();
  });
  await Promise.all(busy.map(({ stdout }) => new Promise((resolve) => stdout.once("data", resolve))));
  run.kill();
  assert.equal((await run.ended).exitCode, 137);
  assert.ok(!isAlive(pid));
});
