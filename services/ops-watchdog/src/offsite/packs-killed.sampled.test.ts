// The process is killed at each step of a pass, a deletion, a rotation, a verification and a fetch of copies in packs. What is
// recorded is in the bucket, whole; nothing is lost, and a repeat finishes.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { sampleOf } from "@svc/config/testing";
import { until } from "@svc/local-stack/testing";
import { generateKey, type SealKey } from "@svc/sealed";
import type { Command } from "../host/command.ts";
import { type Host, type OffsiteFixture, openOffsiteFixture } from "../testing/offsite-fixture.ts";
import { type PacksFixture, packsIn } from "../testing/packs-fixture.ts";
import type { FetchedWorlds } from "./fetch-worlds.ts";
import { packOfKey } from "./object-key.ts";
import type { Verified } from "./verify-copies.ts";

const days = ["bk-1", "bk-2", "bk-3"];
let fixture: OffsiteFixture;
let packs: PacksFixture;
let host: Host;

before(async () => {
  fixture = await openOffsiteFixture();
  packs = packsIn(fixture);
});
after(() => fixture?.stop());
beforeEach(async () => {
  await fixture.reset();
  host = packs.addHost(["offsite.index_keep=0s"]);
  await host.run({ do: "back-up", label: "daily" });
  await packs.addDays(days);
});

async function kill(command: Command, step: string, keys?: readonly SealKey[]): Promise<void> {
  assert.equal(await host.kill(command, step, keys), "SIGKILL", step);
}

/** PostgreSQL notices a killed client, and frees its locks, when it next reads from it. */
async function completed(keys: readonly SealKey[] = [fixture.key], from = host): Promise<void> {
  await until(async () => {
    const { state, report } = await from.sync({ keys }).catch((error: Error) => {
      if (error.name !== "BusyError") throw error;
      return { state: "busy" as const, report: {} };
    });
    assert.notEqual(state, "failed", JSON.stringify(report));
    return state === "completed";
  }, 60_000);
}

async function assertFetched(): Promise<void> {
  packs.loseArchives();
  const { fetched, failures } = await host.run<FetchedWorlds>({ do: "offsite-fetch-worlds" });
  assert.deepEqual([fetched, failures], [days.length, []]);
  packs.assertWhole(days);
}

describe("a pass whose process is killed", () => {
  const steps = [
    ...["packs", "clear", "confirm", "record", "archive", "pack", "sent", "packed", "manifest", "stored"],
    ...[
      "archive:2",
      "pack:2",
      "sent:2",
      "packed:2",
      "manifest:2",
      "stored:2",
      "archive:3",
      "pack:3",
      "packed:3",
    ],
    ...["manifest:3", "stored:3", "pack-list", "finish"],
  ];
  for (const step of sampleOf(steps, 4)) {
    test(`at ${step} has recorded nothing that is not whole, and the next one finishes`, async () => {
      await kill({ do: "offsite-sync" }, step);
      await packs.assertRecorded();
      await completed();
      assert.deepEqual(packs.recorded(), days);
      await packs.assertRecorded();
      await completed();
      await completed();
      assert.deepEqual(packs.recorded(), days);
      await assertFetched();
    });
  }

  for (const step of sampleOf(["delete:2", "deleted", "delete", "deleted:2", "pack-list"], 2)) {
    test(`at ${step} of a deletion has deleted nothing that a copy needs, and the next ones finish`, async () => {
      await completed();
      const named = await Promise.all(days.map(packs.packKeysOf));
      const needed = named[0] ?? [];
      const surplus = packs.storedPacks().filter((key) => !needed.includes(key));
      assert.ok(surplus.length > 0);
      for (const id of ["bk-2", "bk-3"]) packs.forget(id);
      // Of manifests in the first pass, of packs in the third.
      await kill({ do: "offsite-sync" }, step).catch(() => completed());
      await completed();
      await completed();
      if (surplus.some(packs.hasObject)) await kill({ do: "offsite-sync" }, step).catch(() => completed());
      for (const _ of [1, 2, 3]) await completed();
      assert.deepEqual([surplus.some(packs.hasObject), needed.every(packs.hasObject)], [false, true]);
      assert.deepEqual(packs.recorded(), ["bk-1"]);
      await packs.assertRecorded();
    });
  }

  for (const step of sampleOf(["seal-again:3", "seal-again", "seal-again:5", "pack-list"], 2)) {
    test(`at ${step} of a rotation leaves every pack readable, and the next ones finish`, async () => {
      await completed();
      await completed();
      const next = generateKey();
      const both = [next, fixture.key];
      // The list changes only where something else does.
      fixture.s3.remove("worlds/packs.json.sealed");
      await kill({ do: "offsite-sync" }, step, both);
      await packs.assertRecorded(both);
      await completed(both);
      await completed(both);
      assert.equal(fixture.s3.bytesOf("svc-key-id").toString(), `${next.id}\n`);
      assert.deepEqual(packs.recorded(), days);
      await packs.assertRecorded([next]);
    });
  }
});

test("a pass that is killed within a pack goes on with the parts that are missing, and sends no other pack again", async () => {
  await fixture.reset();
  host = packs.addHost();
  await host.run({ do: "back-up", label: "daily" });
  // So much that the digests of its packs are written down first. A pack is sent in three parts.
  await fixture.storage.addWorld("bk-1", { "r.0.0.mca": randomBytes(70 << 20) });
  const sent = (operation: string) =>
    fixture.s3.requests.filter((one) => one.operation === operation && packOfKey(one.key));
  await kill({ do: "offsite-sync" }, "sent:5");
  await packs.assertRecorded();
  const before = sent("upload-part").length;
  await completed();
  assert.deepEqual(packs.recorded(), ["bk-1"]);
  await packs.assertRecorded();
  const begun = sent("create-upload").map(({ key }) => key);
  assert.equal(new Set(begun).size, begun.length, "each upload was begun once");
  assert.ok(begun.length >= 4 && before >= 5);
  // A part that was on its way when the process was killed may be sent twice.
  assert.ok(sent("upload-part").length <= 3 * begun.length + 2);
  assert.deepEqual(fixture.s3.openUploads(), []);
});

test("a verification whose process is killed has changed nothing", async () => {
  await completed();
  await completed();
  const before = fixture.s3.keys();
  await kill({ do: "offsite-verify" }, "verify:4");
  assert.deepEqual(fixture.s3.keys(), before);
  const { damaged } = await host.run<Verified>({ do: "offsite-verify" });
  assert.deepEqual(damaged, []);
});

describe("a fetch whose process is killed", () => {
  for (const step of sampleOf(
    ["fetched-pack:2", "fetch-pack", "world:2", "fetched-pack", "world:3", "fetch-pack:2"],
    2,
  )) {
    test(`at ${step} leaves whole archives or none, and the next one brings back the rest`, async () => {
      await completed();
      packs.loseArchives();
      await kill({ do: "offsite-fetch-worlds" }, step);
      const here = days.filter((id) => existsSync(fixture.storage.pathOf(id)));
      packs.assertWhole(here);
      const done = await host.run<FetchedWorlds>({ do: "offsite-fetch-worlds" });
      assert.deepEqual(
        [done.in_place, done.fetched, done.failures],
        [here.length, days.length - here.length, []],
      );
      packs.assertWhole(days);
      assert.equal(existsSync(join(host.stateDir, "packs")), false, "what was fetched for it is gone");
    });
  }
});

for (const step of sampleOf(["taken-over", "take-over"], 1)) {
  test(`a take-over whose process is killed at ${step} can be repeated, and the packs go on`, async () => {
    await completed();
    const other = packs.addHost(["offsite.index_keep=0s"]);
    const command = { do: "offsite-take-over", apply: true } as const;
    assert.equal(await other.kill(command, step), "SIGKILL");
    await other.run(command);
    assert.equal((await host.sync()).state, "standby");
    for (const _ of [1, 2, 3]) await completed(undefined, other);
    assert.deepEqual(packs.recorded(), days);
    await packs.assertRecorded();
  });
}
