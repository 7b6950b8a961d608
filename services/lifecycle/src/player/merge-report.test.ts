import assert from "node:assert/strict";
import { test } from "node:test";
import { mergeReport } from "./merge-report.ts";

const [alice, bob] = ["069a79f4-44e9-4726-a5be-fca90e38aaf5", "069a79f4-44e9-4726-a5be-fca90e38aaf6"];
const now = "2026-01-01T00:00:10.000Z";
const earlier = "2026-01-01T00:00:01.000Z";
const later = "2026-01-01T00:00:20.000Z";
const said = (mc_uuid: string, session: string) => ({ mc_uuid, name: "x", session });
const at = (mc_uuid: string, session: string, since: string) => ({ ...said(mc_uuid, session), since });
const merge = (before: ReturnType<typeof at>[], rival: ReturnType<typeof at>[], rivalName = "b") =>
  mergeReport({ proxy: "a", players: [said(alice, "0001")] }, before, {
    others: [{ proxy: rivalName, players: rival }],
    now,
  });

test("a session keeps the time it was first seen, another one of the player begins now", () => {
  assert.equal(merge([at(alice, "0001", earlier)], []).players[0]?.since, earlier);
  assert.equal(merge([at(alice, "0009", earlier)], []).players[0]?.since, now);
});

const rows: [fact: string, rival: ReturnType<typeof at>[], rivalName: string, isElsewhere: boolean][] = [
  ["who came to another proxy later is there", [at(alice, "0002", later)], "b", true],
  ["who was on another proxy before is here", [at(alice, "0002", earlier)], "b", false],
  ["somebody else on another proxy changes nothing", [at(bob, "0002", later)], "b", false],
  ["at the same moment one of the two stays: not this one", [at(alice, "0002", now)], "0", true],
  ["at the same moment one of the two stays: this one", [at(alice, "0002", now)], "b", false],
];
for (const [fact, rival, rivalName, isElsewhere] of rows) {
  test(fact, () => assert.deepEqual(merge([], rival, rivalName).elsewhere, isElsewhere ? ["0001"] : []));
}
