import assert from "node:assert/strict";
import { test } from "node:test";
import { change, eraseData, listText } from "./commands.ts";

const alice = {
  ...{ mc_uuid: "069a79f4-44e9-4726-a5be-fca90e38aaf5", name: "alice", servers: 2, visits: 3 },
  ...{
    first_seen: "2026-01-01T00:00:00.000Z",
    last_seen: "2026-01-02T00:00:00.000Z",
    played_seconds: 90_061,
  },
};

test("players are a table that says how many more there are, and nobody is a sentence", () => {
  assert.equal(listText({ players: [], total: 0 }), "No players are known.");
  const lines = listText({ players: [alice], total: 3 }).split("\n");
  assert.match(lines[1] ?? "", /^alice +25h 1m +3 +2 +2026-01-01/);
  assert.equal(lines[2], "2 more: add --all.");
});

test("an erasure is a plan without --yes, and a ban names its servers", async () => {
  const about = { data: "/nowhere" };
  assert.match((await eraseData(alice.mc_uuid, about)).text, /Nothing was done; add --yes/);
  await assert.rejects(change("ban", "alice", about), { name: "UsageError" });
});
