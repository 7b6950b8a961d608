import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { openAccessLists } from "../access/lists.ts";
import { refusal } from "./rules.ts";

const dir = mkdtempSync(join(tmpdir(), "svc-rules-"));
after(() => rmSync(dir, { recursive: true }));
const lists = openAccessLists(dir);
lists.bans.add("mallory", { reason: "theft" });
lists.ops.add("olga");
lists.whitelist.add("Alice");

const open = { name: "bob", lists, isStopping: false, online: 0, maxPlayers: 2 };

test("the rules of who may join", () => {
  assert.equal(refusal(open), undefined);
  assert.match(refusal({ ...open, isStopping: true }) ?? "", /is stopping/);
  assert.match(refusal({ ...open, online: 2 }) ?? "", /full/);
  assert.match(refusal({ ...open, name: "MALLORY" }) ?? "", /banned.*theft/);
  for (const name of ["", "a b", "../../x", "a".repeat(33), "§cred"]) {
    assert.match(refusal({ ...open, name }) ?? "", /name can't join/, name);
  }
  assert.equal(refusal({ ...open, name: ".BedrockPlayer" }), undefined);
});

test("a whitelist that is on lets in its own and operators", () => {
  lists.setWhitelistOn(true);
  assert.match(refusal(open) ?? "", /not whitelisted/);
  assert.equal(refusal({ ...open, name: "alice" }), undefined);
  assert.equal(refusal({ ...open, name: "olga" }), undefined);
  assert.equal(openAccessLists(dir).isWhitelistOn(), true);
});
