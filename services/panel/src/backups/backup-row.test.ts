import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { allRights } from "../access/presets.ts";
import { type Job, runningJob } from "../jobs/job.ts";
import { type Backup, backupBefore, basesOf, type Drill, decideActs, newestDrill } from "./backup-row.ts";

const backup: Backup = {
  id: "bk-1",
  server_name: "survival",
  size_bytes: 1,
  reason: "manual",
  status: "present",
  created_at: "2026-01-01T00:00:00.000Z",
  expires_at: "2026-02-01T00:00:00.000Z",
};
const calm = { isStaff: false, isAsleep: true, isBusy: false };

describe("what can be done with a backup", () => {
  for (const [title, given, rights, expected] of [
    ["a sound one of a sleeping server", {}, calm, "restore browse compare download drill label pin remove"],
    [
      "one of a server that is up",
      {},
      { ...calm, isAsleep: false },
      "browse compare download drill label pin remove",
    ],
    ["one while a Job runs", {}, { ...calm, isBusy: true }, "browse compare download drill label pin remove"],
    ["a corrupt one", { corrupt: true }, calm, "label pin remove"],
    ["the owner's pin", { pinned_by: "owner" }, calm, "restore browse compare download drill label unpin"],
    [
      "staff's pin, for its owner",
      { pinned_by: "staff" },
      calm,
      "restore browse compare download drill label",
    ],
    [
      "staff's pin, for staff",
      { pinned_by: "staff" },
      { ...calm, isStaff: true },
      "restore browse compare download drill label unpin remove",
    ],
    [
      "one, for a member who only makes them",
      {},
      { ...calm, lacks: ["backups.restore", "backups.download", "backups.delete"] },
      "drill label pin",
    ],
    [
      "one, for a member who reads some files",
      {},
      { ...calm, readsSome: true },
      "restore browse drill label pin remove",
    ],
    [
      "one, for a member who changes some files",
      {},
      { ...calm, writesSome: true },
      "browse compare download drill label pin remove",
    ],
    ["one, for a member who may only see it", {}, { ...calm, lacks: allRights }, ""],
  ] as const) {
    test(`${title}: ${expected}`, () => {
      const { pin, ...acts } = decideActs({ ...backup, ...given }, rights);
      const named = Object.entries(acts).flatMap(([act, may]) => (may ? [act] : []));
      if (pin !== "none") named.push(pin);
      assert.deepEqual(named.sort(), expected.split(" ").filter(Boolean).sort());
    });
  }
});

test("the Job that runs and the newest drill of a backup are found", () => {
  const job = (name: string, state: Job["state"]): Job => ({ name, kind: "backup", state });
  assert.equal(runningJob([job("a", "failed"), job("b", "running")])?.name, "b");
  assert.equal(runningJob([job("a", "succeeded")]), undefined);
  const drill = (id: string, backup_id: string): Drill => ({
    ...{ id, backup_id, server_name: "survival", state: "passed" },
    started_at: "2026-01-01T00:00:00.000Z",
  });
  assert.equal(newestDrill([drill("3", "bk-2"), drill("2", "bk-1"), drill("1", "bk-1")], "bk-1")?.id, "2");
  assert.equal(newestDrill([], "bk-1"), undefined);
});

describe("the way back after a restore", () => {
  const job = {
    kind: "restore",
    state: "succeeded",
    started_at: "2026-01-02T10:00:00.000Z",
    finished_at: "2026-01-02T10:05:00.000Z",
  } as const;
  const snapshot = {
    ...backup,
    id: "bk-2",
    reason: "pre_restore",
    created_at: "2026-01-02T09:50:00.000Z",
  } as const;
  const of = (given: Backup[], done: Parameters<typeof backupBefore>[1] = job) =>
    backupBefore(given, done)?.id;

  test("is the backup that was made before it", () => assert.equal(of([backup, snapshot]), "bk-2"));
  test("is none where nothing was backed up", () => assert.equal(of([backup]), undefined));
  test("is none that is damaged", () => assert.equal(of([{ ...snapshot, corrupt: true }]), undefined));
  test("is none of an earlier restore", () =>
    assert.equal(of([{ ...snapshot, created_at: "2026-01-01T09:50:00.000Z" }]), undefined));
  test("is there only once a restore was done", () => {
    assert.equal(of([snapshot], { ...job, state: "failed" }), undefined);
    assert.equal(of([snapshot], { ...job, kind: "backup" }), undefined);
    assert.equal(backupBefore([snapshot], undefined), undefined);
  });
});

test("a backup is compared with the one before it first, never with itself or a damaged one", () => {
  const made = (id: string, created_at: string, given: Partial<Backup> = {}): Backup => ({
    ...backup,
    ...{ id, created_at },
    ...given,
  });
  const [newer, one, damaged, older, oldest] = [
    made("bk-5", "2026-01-05T00:00:00.000Z"),
    made("bk-4", "2026-01-04T00:00:00.000Z"),
    made("bk-3", "2026-01-03T00:00:00.000Z", { corrupt: true }),
    made("bk-2", "2026-01-02T00:00:00.000Z"),
    made("bk-1", "2026-01-01T00:00:00.000Z"),
  ];
  const all = [newer, one, damaged, older, oldest];
  assert.deepEqual(
    basesOf(all, one).map(({ id }) => id),
    ["bk-2", "bk-1", "bk-5"],
  );
  assert.deepEqual(basesOf([one], one), []);
});
