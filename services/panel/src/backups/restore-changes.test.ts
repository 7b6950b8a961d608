import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Right } from "../access/presets.ts";
import { en } from "../words/en/index.ts";
import { zh } from "../words/zh/index.ts";
import { changesSentence, sortChanges } from "./file-changes.ts";
import { changeWords, mayPlan, type Plan, planSentence } from "./restore-changes.ts";

const empty: Plan = {
  ...{ name: "survival", backup_id: "bk-1", backup_at: "2026-11-20T12:00:00.000Z" },
  ...{ added: 0, changed: 0, removed: 0, same: 7, may_be_same: 0 },
  ...{ added_bytes: 0, changed_bytes: 0, removed_bytes: 0, files: [], truncated: false },
};

describe("the sentence of a plan", () => {
  const sentences: [fact: string, plan: Partial<Plan>, english: string, chinese: string][] = [
    [
      "names what changes, goes and comes back",
      { changed: 12, changed_bytes: 2_048, removed: 3, removed_bytes: 10, added: 2, added_bytes: 1_024 },
      "3 files are removed (10 B), 12 files change (2 KiB), and 2 files come back (1 KiB).",
      "3 个文件会被删除（10 B）、12 个文件会被更改（2 KiB）和2 个文件会恢复回来（1 KiB）。",
    ],
    [
      "leaves out what there is none of",
      { removed: 1, removed_bytes: 10 },
      "1 file is removed (10 B).",
      "1 个文件会被删除（10 B）。",
    ],
    ["says that nothing changes", {}, "Nothing changes: 7 files are the same.", "没有变化：7 个文件相同。"],
  ];
  for (const [fact, plan, english, chinese] of sentences)
    test(fact, () => {
      assert.equal(planSentence(en, { ...empty, ...plan }, "en"), english);
      assert.equal(planSentence(zh, { ...empty, ...plan }, "zh-CN"), chinese);
    });
});

test("two backups are compared in the same order, and nothing is told of what there is none of", () => {
  const { changes, allChanges } = en.backups;
  const sentence = (counts: { removed: number; changed: number; added: number }) =>
    changesSentence(counts, { ...changes, all: allChanges }, "en");
  assert.equal(sentence({ removed: 1, changed: 0, added: 2 }), "1 file is gone and 2 files are new.");
  assert.equal(sentence({ removed: 0, changed: 0, added: 0 }), "No file differs.");
});

describe("a file of a plan", () => {
  const files: [file: Plan["files"][number], text: string][] = [
    [{ path: "a", change: "removed", size: 10 }, "Is removed, 10 B"],
    [{ path: "a", change: "added", size: 10 }, "Comes back, 10 B"],
    [{ path: "a", change: "changed", size: 10, was: 10 }, "Changes, 10 B"],
    [{ path: "a", change: "changed", size: 10, was: 1_024 }, "Changes, 1 KiB → 10 B"],
    [{ path: "a", change: "changed", size: 10, was: 10, may_be_same: true }, "Changes, or is the same, 10 B"],
  ];
  for (const [file, text] of files)
    test(`is told as "${text}"`, () => assert.equal(changeWords(en, file, "en"), text));

  test("stands before others when it is lost, and by its path", () => {
    const of = (path: string, change: "added" | "changed" | "removed") => ({ path, change, size: 1 });
    const sorted = sortChanges([
      of("a", "added"),
      of("b", "changed"),
      of("c", "removed"),
      of("d", "removed"),
    ]);
    assert.deepEqual(
      sorted.map(({ path }) => path),
      ["c", "d", "b", "a"],
    );
  });
});

describe("a plan is shown", () => {
  const needed: Right[] = ["backups.restore", "backups.download", "files.read"];
  const accessOf = (rights: readonly Right[], limits = {}) => ({
    may: (right: Right) => rights.includes(right),
    limits,
  });
  test("to whoever may restore, look into the backup and read the world", () => {
    assert.equal(mayPlan(accessOf(needed), undefined), true);
    for (const missing of needed)
      assert.equal(mayPlan(accessOf(needed.filter((right) => right !== missing)), undefined), false, missing);
  });
  test("of files within both lists of paths alone, and of no whole world", () => {
    const access = accessOf(needed, { read_paths: ["plugins", "logs"], write_paths: ["plugins"] });
    assert.equal(mayPlan(access, undefined), false);
    assert.equal(mayPlan(access, ["plugins/a.jar"]), true);
    assert.equal(mayPlan(access, ["logs"]), false);
    assert.equal(mayPlan(access, ["plugins/a.jar", "level.dat"]), false);
    assert.equal(mayPlan(accessOf(needed, { read_paths: ["plugins"] }), undefined), false);
  });
});
