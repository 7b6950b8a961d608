// The program as a Job runs it.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { textOf } from "./failure.ts";
import { testBuild } from "./testing/step.ts";

const main = join(import.meta.dirname, "main.ts");

test("a step that fails leaves one line as its termination message, and its exit code", async () => {
  await using build = await testBuild();
  const run = (...args: string[]) =>
    new Promise<number | string | undefined>((resolve) => {
      const env = {
        NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
        SVC_BUILD_TASK: JSON.stringify(build.task),
        SVC_TERMINATION_LOG: build.at("tmp/last-words"),
      };
      execFile(process.execPath, [main, ...args], { env }, (error) => resolve(error?.code ?? 0));
    });
  const folders = (...names: string[]) => names.map((name) => `--${name}=${build.at(name)}`);
  await build.put({ "context/Dockerfile": "FROM scratch\nRUN x\ty\n" });
  assert.equal(await run("build", ...folders("context", "image", "tmp")), 1);
  assert.match(await build.text("tmp/last-words"), /^Dockerfile line 2: RUN: [^\n]*builds\.builder[^\n]*$/);
  assert.equal(await run("scan-gate", ...folders("image", "reports", "secret", "tmp")), 2);
  assert.match(await build.text("tmp/last-words"), /^the built image can't be read: /);
  assert.equal(await run("egress-gate"), 1);
  assert.match(await build.text("tmp/last-words"), /KUBERNETES_SERVICE_HOST is not set/);
  assert.equal(await run("constructor"), 1);
  assert.match(await build.text("tmp/last-words"), /the step must be one of egress-gate/);
});

test("a line of the log keeps nothing of the colours that a program gave it", () => {
  assert.equal(textOf("\u001b[34mINFO\u001b[0m\tdone\u0007"), "INFO done ");
});
