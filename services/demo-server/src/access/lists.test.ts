import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { openAccessLists } from "./lists.ts";
import { offlineUuid } from "./offline-uuid.ts";

const dir = mkdtempSync(join(tmpdir(), "svc-lists-"));
after(() => rmSync(dir, { recursive: true }));

test("a name is on a list once, whatever its case, and stays there over a start", () => {
  const { bans } = openAccessLists(dir);
  assert.equal(bans.add("Bob", { reason: "spam" }), true);
  assert.equal(bans.add("bob"), false);
  assert.deepEqual(openAccessLists(dir).bans.find("BOB"), {
    uuid: offlineUuid("Bob"),
    name: "Bob",
    reason: "spam",
  });
  assert.equal(bans.remove("bOB"), true);
  assert.equal(bans.remove("Bob"), false);
  assert.equal(readFileSync(join(dir, "banned-players.json"), "utf8"), "[]\n");
});

test("the offline UUID of a name is the one that the game computes", () => {
  assert.equal(offlineUuid("Notch"), "b50ad385-829d-3141-a216-7e7d7539ba7f");
});

for (const text of ["[{", "{}", '[{"uuid":"x"}]']) {
  test(`a list file that reads ${text} stops the start instead of letting everyone in`, () => {
    writeFileSync(join(dir, "whitelist.json"), text);
    assert.throws(() => openAccessLists(dir), {
      name: "ConfigError",
      message: /whitelist.json is not a JSON list/,
    });
  });
}
