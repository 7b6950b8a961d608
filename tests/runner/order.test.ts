import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseNext, inBatches, inOrder } from "./order.ts";

const places = { all: 3, stacks: 1 };
const stack = "tests/flow/game.test.ts";
const otherStack = "tests/fault/broken-start.test.ts";
const plain = "libs/mesh/src/a.test.ts";
const kube = "tests/kube/operator.test.ts";
const otherKube = "tests/kube/storage.test.ts";
const alone = "tests/fault/replicas.sampled.test.ts";

for (const [fact, waiting, running, next] of [
  ["a file with a stack starts first", [plain, stack], [], stack],
  ["plain files run beside a stack", [plain, otherStack], [stack], plain],
  ["a stack waits until its place is free", [otherStack], [stack], undefined],
  ["no more files run than there are places", [plain], [stack, "a", "b"], undefined],
  ["files of one cluster run one after the other", [otherKube, plain], [kube], plain],
  ["the next file of the cluster waits for the one that runs", [otherKube], [kube], undefined],
  ["a file of the cluster starts when the other one has ended", [otherKube], [plain], otherKube],
  ["the file that runs alone waits for all others to start", [alone, plain], [], plain],
  ["the file that runs alone waits for all others to end", [alone], ["a"], undefined],
  ["the file that runs alone comes last", [alone], [], alone],
  ["nothing starts beside the file that runs alone", [plain], [alone], undefined],
] as const) {
  test(fact, () => {
    const batches = (files: readonly string[]) => files.map((file) => [file]);
    assert.deepEqual(
      chooseNext(batches(waiting), batches(running), places),
      next === undefined ? undefined : [next],
    );
  });
}

test("files across services start first, those of contracts last", () => {
  const files = ["libs/a.test.ts", "proto/a.test.ts", "services/a.test.ts", "tests/a.test.ts"];
  assert.deepEqual(inOrder(files), [
    "tests/a.test.ts",
    "services/a.test.ts",
    "libs/a.test.ts",
    "proto/a.test.ts",
  ]);
});

test("files of a package share a process, those with a stack or of the whole process don't", () => {
  const mesh = Array.from({ length: 9 }, (_, at) => `libs/mesh/src/${at}.test.ts`);
  const scrub = "libs/world/src/path/scrub.test.ts";
  const files = [stack, otherStack, ...mesh, scrub, "libs/world/src/a.test.ts"];
  assert.deepEqual(inBatches(files), [
    [stack],
    [otherStack],
    mesh.slice(0, 8),
    mesh.slice(8),
    [scrub],
    ["libs/world/src/a.test.ts"],
  ]);
});

test("files that take long each have a process of their own", () => {
  const files = ["libs/mesh/src/a.test.ts", "libs/mesh/src/b.test.ts"];
  assert.deepEqual(
    inBatches(files, 1),
    files.map((file) => [file]),
  );
});
