// A store that misbehaves, and one that was changed from outside, with copies in packs (docs/reference/off-site.md#packs).

import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { openObjectStore } from "@svc/object-store";
import { generateKey } from "@svc/sealed";
import {
  completedPass,
  type Host,
  type OffsiteFixture,
  openOffsiteFixture,
} from "../testing/offsite-fixture.ts";
import { type PacksFixture, packsIn } from "../testing/packs-fixture.ts";
import type { FetchedWorlds } from "./fetch-worlds.ts";
import { packListObject, packOfKey } from "./object-key.ts";
import type { Verified } from "./verify-copies.ts";

type Fault = Parameters<OffsiteFixture["s3"]["faults"]["add"]>[0];
type About = Parameters<Host["sync"]>[0];

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
  host = packs.addHost();
  await host.run({ do: "back-up", label: "daily" });
  await packs.addDays();
});

const completed = (about?: About, from = host) => completedPass(from, about);
const fetchWorlds = (about?: Parameters<Host["run"]>[1], from = host) =>
  from.run<FetchedWorlds>({ do: "offsite-fetch-worlds" }, about);

const key = /^worlds\/packs\/.*pack\.sealed$/;
const manifest = /chunks\.sealed$/;
const stall = { do: "stall", bytesPerSecond: 1_024 } as const;
/** No object of these tests arrives at that rate within these limits. */
const impatient = { timing: { requestGraceMs: 300, minRate: 1 << 20 } };

describe("a pass to a store that", () => {
  const faults: [fact: string, fault: Fault, about?: About][] = [
    ["takes 1 KiB of a pack in a second", { on: "put", key, ...stall }, impatient],
    ["takes 1 KiB of a manifest in a second", { on: "put", key: manifest, ...stall }, impatient],
    ["denies a pack with 403", { on: "put", key, do: "refuse", status: 403, code: "AccessDenied" }],
    [
      "refuses a pack with 503",
      { on: "put", key, do: "refuse", status: 503, code: "SlowDown", retryAfter: "0" },
    ],
    ["cuts the connection within a manifest", { on: "put", key: manifest, do: "cut", afterBytes: 100 }],
    ["lies about the size of a manifest", { on: "head", key: manifest, do: "wrong-size", by: 1 }],
    ["leaves every pack out of its lists", { on: "list", key, do: "hide" }],
  ];
  for (const [fact, fault, about] of faults) {
    test(`${fact} gets nothing recorded, and a later pass succeeds`, async () => {
      fixture.s3.faults.add(fault);
      const { state } = await host.sync(about);
      assert.ok(state === "incomplete" || state === "failed", state);
      assert.deepEqual(packs.recorded(), []);
      fixture.s3.faults.clear();
      await completed();
      assert.deepEqual(packs.recorded(), ["bk-1", "bk-2"]);
      await packs.assertRecorded();
    });
  }

  test("asks for a moment with 503 and Retry-After gets the copies in the same pass", async () => {
    const busy = { do: "refuse", status: 503, code: "SlowDown", retryAfter: "0" } as const;
    for (const part of [key, manifest]) fixture.s3.faults.add({ ...busy, on: "put", key: part, times: 1 });
    await completed();
    await packs.assertRecorded();
    assert.deepEqual(packs.recorded(), ["bk-1", "bk-2"]);
  });

  for (const minutes of [20, -20]) {
    test(`has its clock ${minutes} minutes ahead gets the copies, and gives them back`, async () => {
      fixture.s3.setClock(minutes * 60_000);
      await completed();
      assert.deepEqual(packs.recorded(), ["bk-1", "bk-2"]);
      packs.loseArchives();
      assert.equal((await fetchWorlds()).fetched, 2);
      packs.assertWhole(["bk-1", "bk-2"]);
    });
  }

  for (const way of ["ignored", "refused"] as const) {
    test(`has conditions ${way} leaves one of two writers, and what it recorded is whole`, async () => {
      fixture.s3.setConditionalPut(way);
      const other = packs.addHost();
      const passes = await Promise.allSettled([host.sync(), other.sync()]);
      const writers = passes.filter((one) => one.status === "fulfilled" && one.value.state === "completed");
      assert.ok(writers.length <= 1, JSON.stringify(passes));
      await packs.assertRecorded();
      await other.run({ do: "offsite-take-over", apply: true });
      await completed(undefined, other);
      assert.equal((await host.sync()).state, "standby");
      assert.deepEqual(packs.recorded(), ["bk-1", "bk-2"]);
      await packs.assertRecorded();
      fixture.s3.setConditionalPut("kept");
    });
  }

  test("keeps other bytes of a pack is found out by a verification, which sends it again", async () => {
    fixture.s3.faults.add({ on: "put", key, do: "store-other-bytes", times: 1 });
    await completed();
    fixture.s3.faults.clear();
    const { damaged } = await host.run<Verified>({ do: "offsite-verify" });
    assert.deepEqual(
      damaged.map((one) => [packOfKey(one.key) !== undefined, one.repaired]),
      [[true, true]],
    );
    await packs.assertRecorded();
  });
});

describe("a fetch from a store that", () => {
  const get = { on: "get", key } as const;
  const faults: [fact: string, fault: Fault, about?: About][] = [
    ["sends 1 KiB of packs in a second", { ...get, ...stall }, impatient],
    ["answers packs with other bytes", { ...get, do: "corrupt" }],
    ["refuses packs with 500", { ...get, do: "refuse", status: 500, code: "InternalError" }],
    ["cuts packs", { ...get, do: "cut", afterBytes: 1_000 }],
    ["denies packs with 403", { ...get, do: "refuse", status: 403, code: "AccessDenied" }],
    ["answers manifests with other bytes", { on: "get", key: manifest, do: "corrupt" }],
  ];
  for (const [fact, fault, about] of faults) {
    test(`${fact} puts nothing in place, and a later one brings all back`, async () => {
      await completed();
      packs.loseArchives();
      fixture.s3.faults.add(fault);
      const done = await fetchWorlds(about).catch(() => undefined);
      assert.equal(done?.fetched ?? 0, 0);
      fixture.s3.faults.clear();
      assert.equal((await fetchWorlds()).fetched, 2);
      packs.assertWhole(["bk-1", "bk-2"]);
    });
  }

  test("is sealed with another key puts nothing in place and says so", async () => {
    await completed();
    packs.loseArchives();
    const { fetched, failures } = await fetchWorlds({ keys: [generateKey()] });
    assert.deepEqual([fetched, failures.length], [0, 2]);
    for (const { error } of failures) assert.match(error, /no key opens the object/);
    assert.equal((await fetchWorlds()).fetched, 2);
  });
});

test("an older manifest and list in the place of the newer ones delete no pack that is needed", async () => {
  const soon = { set: ["offsite.index_keep=0s"] };
  await completed(soon);
  await completed(soon);
  const old = [packListObject, packs.manifestOf("bk-1")].map(
    (object) => [object, fixture.s3.bytesOf(object)] as const,
  );
  await packs.addDays(["bk-3", "bk-4"]);
  await completed(soon);
  for (const [object, bytes] of old) fixture.s3.replace(object, bytes);
  fixture.s3.replace(packs.manifestOf("bk-4"), fixture.s3.bytesOf(packs.manifestOf("bk-3")));
  await host.sync(soon);
  for (const _ of [1, 2, 3]) await completed(soon);
  assert.deepEqual(packs.recorded(), ["bk-1", "bk-2", "bk-3", "bk-4"]);
  await packs.assertRecorded();
});

test("a bucket that an attacker emptied is recovered from its versions, packs and all", async () => {
  const about = { set: ["offsite.bucket=versions"] };
  const { s3 } = fixture;
  await completed(about);
  packs.loseArchives();
  for (const object of s3.keys("versions")) {
    s3.replace(object, Buffer.from("ransom"), "versions");
    s3.remove(object, "versions");
  }
  const bucket = openObjectStore(s3.options("versions"));
  for await (const { key: object, versionId = "", isDeleteMarker, sizeBytes } of bucket.listVersions(""))
    if (isDeleteMarker || sizeBytes === "ransom".length) await bucket.delete(object, { versionId });
  bucket.close();
  const { fetched, missing, failures } = await fetchWorlds(about, packs.addHost());
  assert.deepEqual([fetched, missing, failures], [2, [], []]);
  packs.assertWhole(["bk-1", "bk-2"]);
});
