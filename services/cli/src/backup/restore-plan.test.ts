import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { restorePlans } from "@svc/proto";
import { changesText } from "./restore-plan.ts";

type Plan = restorePlans.RestorePlan;
const empty: Plan = {
  ...{ name: "survival", backup_id: "bk-1", backup_at: "2026-11-20T12:00:00.000Z" },
  ...{ added: 0, changed: 0, removed: 0, same: 7, may_be_same: 0 },
  ...{ added_bytes: 0, changed_bytes: 0, removed_bytes: 0, files: [], truncated: false },
};
const plan = (about: Partial<Plan>) => changesText({ changes: { ...empty, ...about } });
const many = Array.from({ length: 30 }, (_, n) => ({ path: `f${n}`, change: "added" as const, size: 1 }));

describe("the changes of a restore in words", () => {
  test("say that nothing changes", () =>
    assert.equal(plan({}), "It changes nothing: all 7 files are the same."));

  test("name what is lost first", () => {
    const text = plan({
      ...{ added: 1, changed: 1, removed: 1, added_bytes: 4, changed_bytes: 2_048, removed_bytes: 11 },
      files: [
        { path: "a", change: "added", size: 4 },
        { path: "level.dat", change: "changed", size: 2_048, was: 1 },
        { path: "plugins/new.jar", change: "removed", size: 11 },
      ],
    });
    assert.equal(
      text,
      [
        "It removes 1 file (-, 11 B), changes 1 (~, 2.0 KiB), adds 1 (+, 4 B); 7 stay the same.",
        "-  11 B     plugins/new.jar",
        "~  2.0 KiB  level.dat",
        "+  4 B      a",
      ].join("\n"),
    );
  });

  test("say how many may be the same", () =>
    assert.match(
      plan({ changed: 3, may_be_same: 2 }),
      /\nOf those that change 2 may be the same: only their time/,
    ));

  test("are cut after twenty files, with how many more there are", () => {
    const lines = plan({ added: 1_030, files: many, truncated: true }).split("\n");
    assert.deepEqual([lines.length, lines.at(-2)], [22, "+  1 B  f19"]);
    assert.equal(lines.at(-1), "... and 1010 more; --json has the first 1000.");
  });

  test("are not known where nothing could be compared, and why", () =>
    assert.equal(
      changesText({ changes: null, why: "The server must be fully stopped first." }),
      "What it would change is not known: The server must be fully stopped first.",
    ));
});
