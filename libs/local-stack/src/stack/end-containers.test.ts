import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { findProcess, isAlive } from "../process/identity.ts";
import { launch } from "../process/launch.ts";
import { scratchDir } from "../testing/scratch.ts";
import { endContainers } from "./end-containers.ts";
import { layout } from "./layout.ts";

test("containers that a killed cluster left behind end with their stack, those of other stacks stay", async () => {
  using scratch = scratchDir();
  const [own, other] = ["own", "other"].map((name) => layout(join(scratch.path, name)));
  assert.ok(own && other);
  const start = ({ pods }: typeof own) => {
    const mark = { SVC_RUN: join(pods, "uid", "runs", "0") };
    return launch({ command: "sleep", args: ["60"], mark }, join(scratch.path, "log")).ref;
  };
  const [ended, left] = [start(own), start(other)];
  assert.ok(ended && left);
  assert.equal(await endContainers(own, 2_000), true);
  assert.equal(isAlive(ended), false);
  assert.deepEqual(findProcess(left.pid), left);
  assert.equal(await endContainers(own, 2_000), false);
  await endContainers(other, 2_000);
});
