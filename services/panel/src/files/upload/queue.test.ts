import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { UploadItem, UploadState } from "./item.ts";
import {
  emptyQueue,
  nextWork,
  summaryOf,
  type UploadQueue,
  withItem,
  withNew,
  withRetry,
  withRule,
} from "./queue.ts";

const item = (
  id: string,
  state: UploadState = { is: "open" },
  more: Partial<UploadItem> = {},
): UploadItem => ({
  id,
  server: "survival",
  path: id,
  kind: "file",
  size: 10,
  modified: 1,
  overwrite: false,
  partMax: 0,
  received: 0,
  isSynced: true,
  wasCommitted: false,
  attempts: 0,
  state,
  ...more,
});
const queueOf = (...items: UploadItem[]): UploadQueue => ({ ...emptyQueue, items });
const all = { hasFile: () => true, now: 1_000 };
const retrying = (at: number) => ({ is: "retrying", at, code: "offline" }) as const;
const failed = { is: "failed", code: "volume_full", message: "" } as const;

describe("the next work", () => {
  const cases: [string, UploadQueue, string | number | undefined][] = [
    ["is nothing in an empty queue", emptyQueue, undefined],
    ["is the first open item", queueOf(item("a", { is: "done" }), item("b"), item("c")), "b"],
    ["is another file while one waits", queueOf(item("a", retrying(2_000)), item("b")), "b"],
    ["waits for the earliest", queueOf(item("a", retrying(3_000)), item("b", retrying(2_000))), 2_000],
    ["waits with its folder", queueOf(item("a", retrying(2_000), { kind: "folder" }), item("a/b")), 2_000],
    [
      "waits with a commit, which holds the world",
      queueOf(item("a", retrying(2_000), { op: "o" }), item("b")),
      2_000,
    ],
    ["is nothing while paused", { ...queueOf(item("a")), isPaused: true }, undefined],
    ["is nothing while nobody is signed in", { ...queueOf(item("a")), isSignedOut: true }, undefined],
    ["leaves conflicts to the person", queueOf(item("a", { is: "exists" }), item("b")), "b"],
  ];
  for (const [name, queue, expected] of cases)
    test(name, () => {
      const work = nextWork(queue, all);
      assert.equal(work && ("until" in work ? work.until : work.item.id), expected);
    });

  test("passes over files that have to be chosen again", () => {
    const work = nextWork(queueOf(item("a"), item("b")), { hasFile: (id) => id === "b", now: 0 });
    assert.ok(work && "item" in work && work.item.id === "b");
  });
});

describe("conflicts", () => {
  const exists = { is: "exists" } as const;

  test("are asked once: the answer is for those that come later as well", () => {
    const replaced = withRule(queueOf(item("a", exists), item("b")), "replace");
    assert.deepEqual([replaced.items[0]?.overwrite, replaced.items[0]?.state.is], [true, "open"]);
    const later = withItem(replaced, item("b", exists));
    assert.deepEqual([later.items[1]?.overwrite, later.items[1]?.state.is], [true, "open"]);
    assert.equal(withItem(withRule(replaced, "skip"), item("b", exists)).items[1]?.state.is, "skipped");
  });

  test("that stay after a replacement are left to the person", () => {
    const after = withItem(
      { ...queueOf(item("a")), rule: "replace" },
      item("a", exists, { overwrite: true }),
    );
    assert.equal(after.items[0]?.state.is, "exists");
  });

  test("are asked anew in the next queue", () => {
    const over = { ...queueOf(item("a", { is: "done" }), item("b", failed)), rule: "replace" } as const;
    const next = withNew(over, [item("c")]);
    assert.deepEqual([next.rule, next.items.map(({ id }) => id)], [undefined, ["b", "c"]]);
    assert.equal(withNew({ ...over, items: [item("a")] }, [item("c")]).rule, "replace");
  });
});

test("what was cancelled does not come back by a late answer", () => {
  assert.deepEqual(
    withItem(queueOf(item("b")), item("a", { is: "done" })).items.map(({ id }) => id),
    ["b"],
  );
});

test("failed items are tried again from where the service is", () => {
  const [again] = withRetry(queueOf(item("a", failed, { session: "s" }))).items;
  assert.deepEqual([again?.state.is, again?.isSynced, again?.session], ["open", false, "s"]);
});

test("the summary counts files, bytes and what is missing", () => {
  const queue = queueOf(
    item("d", { is: "done" }, { kind: "folder", size: 0 }),
    item("a", { is: "done" }, { received: 10 }),
    item("b", { is: "open" }, { received: 4 }),
    item("c", { is: "skipped" }),
    item("e", { is: "exists" }),
    item("f", failed),
  );
  const summary = summaryOf(queue, { hasFile: (id) => id !== "b", sending: 3 });
  assert.deepEqual(
    { ...summary, missing: summary.missing.map(({ id }) => id) },
    {
      files: 4,
      done: 1,
      failed: 1,
      skipped: 1,
      existing: 1,
      bytes: 40,
      received: 27,
      missing: ["b"],
      isOver: false,
    },
  );
});
