import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { cloneServer, showOrigin, worldOf } from "./clone.ts";

describe("which world a clone gets", () => {
  const table: readonly (readonly [fact: string, options: Parameters<typeof worldOf>[0], world: string])[] = [
    ["the newest backup", {}, "newest_backup"],
    ["a named backup", { backup: "bk-1" }, "newest_backup"],
    ["a new backup", { newBackup: true }, "new_backup"],
    ["none", { withoutWorld: true }, "none"],
  ];
  for (const [fact, options, world] of table) test(fact, () => assert.equal(worldOf(options), world));

  for (const options of [
    { backup: "bk-1", newBackup: true },
    { backup: "bk-1", withoutWorld: true },
    { newBackup: true, withoutWorld: true },
  ])
    test(`${Object.keys(options).join(" and ")} contradict each other`, async () => {
      const made = cloneServer("survival", "copy", { data: "/nowhere", ...options });
      await assert.rejects(made, /Give one of/);
    });

  test("a backup without a retry is refused before anything is asked", async () => {
    await assert.rejects(showOrigin("copy", { data: "/nowhere", backup: "bk-1" }), /goes with --retry/);
  });
});
