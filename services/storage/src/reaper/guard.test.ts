// No world volume is deleted unless every rule holds: each one is violated here on its own.

import assert from "node:assert/strict";
import { test } from "node:test";
import { aBackup, at, aWorld, now } from "../testing/reaper/facts.ts";
import { assertMayDelete, type Evidence, whyKept } from "./guard.ts";

const lastActiveAt = at(now - 20 * 86_400_000);
const ours = "reap@2026-06-01T04:00:00.000Z";

function allTrue(): Evidence {
  return {
    run: "run-1",
    readBack: { run: "run-1", backupId: "bk-1", sha256: "0".repeat(64), claimUid: "uid-1" },
    backup: aBackup({ reason: "inactive_15d" }),
    world: aWorld({ last_active_at: lastActiveAt }),
    decided: { owner: "usr-1", outcome: "reclaimed", lastActiveAt },
    claim: { name: "world-survival-0", uid: "uid-1" },
    lock: { found: ours, ours, isHeld: true },
    offsite: { isRequired: false },
    now,
  };
}

test("a world may be deleted if its archive was verified in this run, under our lock", () => {
  assert.equal(whyKept(allTrue()), undefined);
  assert.doesNotThrow(() => assertMayDelete(allTrue()));
});

const readBack = allTrue().readBack as NonNullable<Evidence["readBack"]>;
const idle = { last_active_at: lastActiveAt };
const gone = { requested_at: at(now), delete: false };
const rows: [fact: string, change: Partial<Evidence>, why: string][] = [
  ["nothing was verified", { readBack: undefined }, "no archive was verified in this run"],
  [
    "it was verified in another run",
    { readBack: { ...readBack, run: "run-0" } },
    "no archive was verified in this run",
  ],
  ["the backup's row is gone", { backup: undefined }, "the archive has no record"],
  ["the row is of another backup", { backup: aBackup({ id: "bk-2" }) }, "the archive has no record"],
  [
    "different bytes were read",
    { readBack: { ...readBack, sha256: "1".repeat(64) } },
    "the record and the bytes differ",
  ],
  ["the backup was deleted meanwhile", { backup: aBackup({ status: "expired" }) }, "the backup was expired"],
  ["its file is deleted", { backup: aBackup({ status: "deleted" }) }, "the backup was expired"],
  [
    "the backup turned out corrupt",
    { backup: aBackup({ corrupt_at: new Date(now) }) },
    "the backup is marked corrupt",
  ],
  [
    "files of the world could not be read",
    { backup: aBackup({ unreadable_entries: 1 }) },
    "the archive lacks files that could not be read",
  ],
  ["the backup expires now", { backup: aBackup({ expires_at: new Date(now) }) }, "the backup has expired"],
  [
    "the backup is of another server",
    { backup: aBackup({ server_name: "creative" }) },
    "the backup is of another server",
  ],
  ["the claim is gone", { claim: undefined }, "the archive is of another volume"],
  [
    "the claim was created again",
    { claim: { name: "world-survival-0", uid: "uid-2" } },
    "the archive is of another volume",
  ],
  [
    "the world was moved",
    { world: aWorld({ ...idle, volume_claim: "world-survival-m1" }) },
    "the server's world is another volume",
  ],
  ["the server is unknown", { world: undefined }, "the backup is of another server"],
  ["the object is gone", { world: aWorld({ ...idle, exists: false }) }, "the server is exempt or gone"],
  [
    "the server became exempt",
    { world: aWorld({ ...idle, reaper_exempt: true }) },
    "the server is exempt or gone",
  ],
  [
    "the server became a system server",
    { world: aWorld({ ...idle, system: true }) },
    "the server is exempt or gone",
  ],
  ["the server started", { world: aWorld({ ...idle, stopped: false }) }, "the server is not stopped"],
  ["somebody else claimed it", { world: aWorld({ ...idle, owner_id: "usr-2" }) }, "the server changed owner"],
  ["its owner was removed", { world: aWorld({ ...idle, owner_id: undefined }) }, "the server changed owner"],
  ["a player joined", { world: aWorld({ last_active_at: at(now) }) }, "the decision no longer applies"],
  [
    "its owner gave it up in the meantime",
    { world: aWorld({ ...idle, retiring: gone }) },
    "the decision no longer applies",
  ],
  ["the off-site copy is missing", { offsite: { isRequired: true } }, "there is no confirmed off-site copy"],
  ["the lock expired", { lock: { found: ours, ours, isHeld: false } }, "the lock is no longer ours"],
  ["the lock was removed", { lock: { found: undefined, ours, isHeld: true } }, "the lock is no longer ours"],
  [
    "another process has the lock",
    { lock: { found: "restore@2026-06-01T04:00:00.000Z", ours, isHeld: true } },
    "the lock is no longer ours",
  ],
];
for (const [fact, change, why] of rows) {
  test(`the world is kept when ${fact}`, () => {
    assert.equal(whyKept({ ...allTrue(), ...change }), why);
    assert.throws(() => assertMayDelete({ ...allTrue(), ...change }), { name: "WorldKept", message: why });
  });
}

test("a deletion that staff cancelled keeps the world, and so does one that was changed to a release", () => {
  const decided = { owner: "usr-1", outcome: "deleted", lastActiveAt } as const;
  const backup = aBackup({ reason: "released" });
  const received = (retiring: typeof gone | undefined) =>
    whyKept({ ...allTrue(), decided, backup, world: aWorld({ ...idle, retiring }) });
  assert.equal(received({ ...gone, delete: true }), undefined);
  assert.equal(received(gone), "the decision no longer applies");
  assert.equal(received(undefined), "the decision no longer applies");
});

test("where an off-site copy is required, a confirmed one allows the deletion", () => {
  const backup = aBackup({ reason: "inactive_15d", offsite_at: new Date(now) });
  assert.equal(whyKept({ ...allTrue(), backup, offsite: { isRequired: true } }), undefined);
});
