import assert from "node:assert/strict";
import { test } from "node:test";
import { knownPlayers } from "@svc/proto";
import { createVisits } from "./visits.ts";

const alice = { id: "s1", uuid: "069a79f4-44e9-4726-a5be-fca90e38aaf5", name: "alice" };

function start() {
  const clock = { now: 1_000.4 };
  const dropped: number[] = [];
  const visits = createVisits(
    () => clock.now,
    (count) => dropped.push(count),
  );
  const reports: knownPlayers.Visit[][] = [];
  const report = (isTaken: boolean) =>
    visits.report(async (some) => {
      reports.push(some);
      return isTaken;
    });
  const last = () =>
    reports.at(-1)?.map(({ server, number, ms, ended_ms }) => [server, number, ms, ended_ms]);
  return { clock, visits, report, reports, last, dropped };
}

test("what lasts grows with each report, what ended is reported until it is taken", async () => {
  const { clock, visits, report, last } = start();
  assert.equal(visits.isNeeded(), false);
  visits.began(alice, "survival");
  clock.now += 5_000;
  await report(true);
  assert.deepEqual(last(), [["survival", 1, 5_000, undefined]]);
  clock.now += 1_000;
  visits.ended(alice);
  visits.began(alice, "creative");
  clock.now += 2_000;
  await report(false);
  const both = (ended: number) => [
    ["survival", 1, 6_000, ended],
    ["creative", 2, ended, undefined],
  ];
  assert.deepEqual(last(), both(2_000));
  clock.now += 3_000;
  await report(true);
  assert.deepEqual(last(), both(5_000));
  visits.ended(alice);
  visits.ended(alice);
  await report(true);
  assert.deepEqual(last(), [["creative", 2, 5_000, 0]]);
  assert.equal(visits.isNeeded(), false);
});

test("a second login of a player is a visit of its own, in whatever order the sessions end", async () => {
  const { clock, visits, report, last } = start();
  visits.began(alice, "survival");
  clock.now += 100;
  visits.began({ ...alice, id: "s2" }, "survival");
  visits.ended(alice);
  clock.now += 100;
  await report(true);
  assert.deepEqual(last(), [
    ["survival", 1, 100, 100],
    ["survival", 2, 100, undefined],
  ]);
});

test("more visits than one report holds come in several, and a failed one keeps the rest", async () => {
  const { visits, reports } = start();
  const many = knownPlayers.maxVisitsReported + 3;
  for (let index = 0; index < many; index++) {
    visits.began({ ...alice, id: `s${index}` }, "survival");
    visits.ended({ ...alice, id: `s${index}` });
  }
  let answers = 0;
  await visits.report(async (some) => {
    reports.push(some);
    return answers++ === 0;
  });
  assert.deepEqual(
    reports.map((some) => some.length),
    [knownPlayers.maxVisitsReported, 3],
  );
  await visits.report(async (some) => {
    reports.push(some);
    return true;
  });
  assert.equal(reports.at(-1)?.length, 3);
});

test("what nobody took for a day is given up and counted", async () => {
  const { clock, visits, report, dropped, reports } = start();
  visits.began(alice, "survival");
  visits.ended(alice);
  clock.now += knownPlayers.oldestEndMs;
  await report(true);
  assert.deepEqual([dropped, reports], [[1], []]);
});
