import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { progressText, showProgress } from "./progress.ts";
import { exitCodeOf, type Status, statusText, worldsLines } from "./status-text.ts";

const pass = { sent: 2, sent_bytes: 2_048, deleted: 0, failed: 0, failures: [] };
const worlds = { kind: "worlds" as const, objects: 2, bytes: 2_048, missing: [], not_whole: [] };
const good: Status = {
  configured: true,
  bucket: "copies",
  last: { ...pass, state: "completed", started_at: "2026-11-23T12:00:00Z" },
  last_completed_at: "2026-11-23T12:00:01Z",
  stale: false,
  max_age_seconds: 43_200,
  kinds: [{ ...worlds, missing_count: 0, not_whole_count: 0 }],
};
const lastIn = (state: NonNullable<Status["last"]>["state"]): Partial<Status> => ({
  last: { ...pass, state, started_at: "2026-11-23T12:00:00Z" },
});

const cases: [fact: string, about: Partial<Status>, code: number][] = [
  ["0 when all is copied", {}, 0],
  ["0 without a bucket", { configured: false, last: null, kinds: [] }, 0],
  ["0 while a pass runs", lastIn("running"), 0],
  ["0 after one failure: only twelve hours of them are stale", lastIn("incomplete"), 0],
  ["1 when no pass was completed for too long", { stale: true }, 1],
  ["1 on standby", lastIn("standby"), 1],
  ["1 when a copy is missing", { kinds: [{ ...worlds, missing_count: 1, not_whole_count: 0 }] }, 1],
  ["1 when a copy is not whole", { kinds: [{ ...worlds, missing_count: 0, not_whole_count: 1 }] }, 1],
  ["1 when a copy is damaged", { damaged: ["worlds/a.sealed"] }, 1],
  ["3 for a wrong key", { ...lastIn("wrong_key"), stale: true }, 3],
];

describe("the exit code of svc offsite status is", () => {
  for (const [fact, about, code] of cases)
    test(fact, () => assert.equal(exitCodeOf({ ...good, ...about }), code));
});

test("the status names what is missing and what is not whole, and how many more there are", () => {
  const kinds = [
    {
      ...worlds,
      missing: ["worlds/a.sealed"],
      missing_count: 3,
      not_whole: ["worlds/b.sealed"],
      not_whole_count: 1,
    },
  ];
  const lines = statusText({ ...good, kinds }).split("\n");
  for (const line of ["missing: worlds/a.sealed", "missing: 2 more", "not whole: worlds/b.sealed"])
    assert.ok(lines.includes(line), lines.join("\n"));
});

test("the status says whether packs are copied, and why not where a store locks objects", () => {
  assert.doesNotMatch(statusText(good), /packs/);
  assert.match(statusText({ ...good, packs: "on" }), /packs {5}deduplicated archives are copied as packs/);
  assert.match(statusText({ ...good, packs: "locked" }), /packs {5}copies are whole although/);
});

test("the status says what is in packs, and what they save once they save something", () => {
  const kept = { ...worlds, missing_count: 0, not_whole_count: 0 };
  const packed = { copies: 10, whole_bytes: 5_242_880, packs: 12, bytes: 1_048_576 };
  const of = (about: Partial<typeof packed>) =>
    statusText({ ...good, kinds: [{ ...kept, packed: { ...packed, ...about } }] });
  assert.match(
    of({}),
    /^in packs {2}10 archives in 12 packs, 1\.0 MiB instead of 5\.0 MiB: 4\.0 MiB saved$/m,
  );
  assert.match(of({ copies: 0, whole_bytes: 0 }), /^in packs {2}0 archives in 12 packs, 1\.0 MiB$/m);
});

test("a list and a verification say how many archives are whole and how many in packs", () => {
  const of = (whole: number, in_packs: number, packs: number) =>
    worldsLines("Worlds", { whole, in_packs, packs });
  assert.deepEqual(of(0, 0, 0), []);
  assert.deepEqual(of(2, 0, 0), ["Worlds: 2 whole archives."]);
  assert.deepEqual(of(2, 10, 12), ["Worlds: 2 whole archives, 10 archives in packs, 12 packs."]);
});

test("the status says that the clocks of store and host differ", () => {
  const store = { conditional_put: true, versioning: "enabled", object_lock: "off" } as const;
  const textOf = (clock_ahead_seconds: number) =>
    statusText({ ...good, store: { ...store, clock_ahead_seconds } });
  assert.match(textOf(1_200), /its clock is 20 min ahead of this host's$/m);
  assert.match(textOf(-1_200), /its clock is 20 min behind this host's$/m);
  assert.doesNotMatch(statusText({ ...good, store }), /clock/);
});

test("a pass that was never completed is not an old one", () => {
  const { last_completed_at: _none, ...fresh } = good;
  assert.match(
    statusText({ ...good, stale: true }),
    /^completed 2026-11-23T12:00:01Z; that is more than 12 /m,
  );
  assert.match(statusText({ ...fresh, stale: true }), /^completed never$/m);
});

test("a running pass is shown with a bar and the time that is left", () => {
  const progress = {
    kind: "worlds" as const,
    objects_done: 3,
    objects_total: 10,
    bytes_done: 1 << 20,
    bytes_total: 4 << 20,
  };
  assert.equal(
    progressText({ ...progress, eta_seconds: 240 }),
    "worlds [██████░░░░░░░░░░░░░░░░░░] 25 % 3/10 objects, 1.0 MiB of 4.0 MiB, 4 min left",
  );
  const written: string[] = [];
  const write = (text: unknown) => written.push(String(text)) > 0;
  const bar = showProgress({ isTTY: true, write });
  bar.onLine(`progress ${JSON.stringify(progress)}`);
  bar.onLine("something else");
  bar.end();
  assert.equal(written.length, 2);
  showProgress({ isTTY: false, write }).onLine("progress {}");
  assert.equal(written.length, 2);
});
