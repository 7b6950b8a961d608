// Copies in packs are fetched, verified and sealed again (docs/reference/off-site.md#packs).

import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { after, before, beforeEach, describe, test } from "node:test";
import { generateKey } from "@svc/sealed";
import {
  completedPass,
  type Host,
  type OffsiteFixture,
  openOffsiteFixture,
} from "../testing/offsite-fixture.ts";
import { type PacksFixture, packsIn } from "../testing/packs-fixture.ts";
import type { FetchedWorlds } from "./fetch-worlds.ts";
import { packListObject, packOfKey, type WorldCounts } from "./object-key.ts";
import type { Verified } from "./verify-copies.ts";

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
});

const completed = (about?: Parameters<Host["sync"]>[0], from = host) => completedPass(from, about);

describe("a fetch", () => {
  const fetchWorlds = (from = host) => from.run<FetchedWorlds>({ do: "offsite-fetch-worlds" });
  test("brings every archive back as one stream, from the bucket and the key alone, and each pack once", async () => {
    await packs.addDays(["bk-1", "bk-2", "bk-3"]);
    fixture.storage.add("bk-4");
    await completed();
    fixture.s3.remove(packListObject);
    packs.loseArchives();
    fixture.s3.requests.length = 0;
    const fresh = packs.addHost();
    const done = await fetchWorlds(fresh);
    assert.deepEqual([done.fetched, done.missing, done.failures], [4, [], []]);
    packs.assertWhole(["bk-1", "bk-2", "bk-3", "bk-4"]);
    const gets = fixture.s3.requests.flatMap(({ operation, key }) =>
      operation === "get" && packOfKey(key) ? [key] : [],
    );
    assert.deepEqual(gets.sort(), packs.storedPacks().sort());
    assert.deepEqual(readdirSync(fresh.stateDir).includes("packs"), false);
    assert.deepEqual([(await fetchWorlds(fresh)).in_place, (await completed()).sent], [4, 0]);
  });

  const harms: [fact: string, harm: (pack: string, manifest: string) => void][] = [
    ["whose pack is gone", (pack) => fixture.s3.remove(pack)],
    ["whose pack was cut", (pack) => fixture.s3.replace(pack, fixture.s3.bytesOf(pack).subarray(0, 70_000))],
    ["whose pack has other bytes", (pack) => fixture.s3.replace(pack, packs.spoiled(pack))],
    [
      "whose manifest has other bytes",
      (_, manifest) => fixture.s3.replace(manifest, packs.spoiled(manifest)),
    ],
  ];
  for (const [fact, harm] of harms) {
    test(`stores nothing of an archive ${fact}, and brings back the others`, async () => {
      await packs.addDays();
      await completed();
      const first = await packs.packKeysOf("bk-1");
      const [own = ""] = (await packs.packKeysOf("bk-2")).filter((key) => !first.includes(key));
      harm(own, packs.manifestOf("bk-2"));
      packs.loseArchives();
      const done = await fetchWorlds();
      assert.deepEqual([done.fetched, done.missing], [1, []]);
      assert.deepEqual(
        done.failures.map(({ key }) => key),
        [packs.manifestOf("bk-2")],
      );
      packs.assertWhole(["bk-1"]);
      assert.equal(readdirSync(fixture.archiveDir).length, 1);
    });
  }

  test("is not deceived by the manifest of another archive, nor by an older pack under a newer name", async () => {
    await packs.addDays();
    await completed();
    const first = await packs.packKeysOf("bk-1");
    const [own = ""] = (await packs.packKeysOf("bk-2")).filter((key) => !first.includes(key));
    packs.loseArchives();
    const [kept, pack] = [fixture.s3.bytesOf(packs.manifestOf("bk-2")), fixture.s3.bytesOf(own)];
    fixture.s3.replace(packs.manifestOf("bk-2"), fixture.s3.bytesOf(packs.manifestOf("bk-1")));
    const deceived = await fetchWorlds();
    assert.match(
      deceived.failures[0]?.error ?? "",
      /under another name; the bucket was changed from outside/,
    );
    fixture.s3.replace(packs.manifestOf("bk-2"), kept);
    fixture.s3.replace(own, fixture.s3.bytesOf(first[0] ?? ""));
    assert.equal((await fetchWorlds()).failures.length, 1);
    fixture.s3.replace(own, pack);
    assert.equal((await fetchWorlds()).fetched, 1);
    packs.assertWhole(["bk-1", "bk-2"]);
  });

  test("takes the packs where the whole copy is damaged", async () => {
    await packs.addDays(["bk-1"]);
    await completed();
    fixture.s3.replace(packs.wholeOf("bk-1"), Buffer.from("SVCSEAL1 and nothing of it"));
    packs.loseArchives();
    assert.equal((await fetchWorlds()).fetched, 1);
    packs.assertWhole(["bk-1"]);
  });
});

describe("a verification", () => {
  const verify = (from = host) => from.run<Verified & { worlds: WorldCounts }>({ do: "offsite-verify" });

  test("opens every manifest, every pack and the list", async () => {
    await packs.addDays();
    await completed();
    await completed();
    const { checked, damaged, worlds: opened } = await verify();
    assert.deepEqual(damaged, []);
    const packed = { whole: 0, in_packs: 2, packs: packs.storedPacks().length };
    assert.deepEqual(opened, packed);
    assert.deepEqual((await host.run<{ worlds: WorldCounts }>({ do: "offsite-list" })).worlds, packed);
    const worlds = fixture.s3.keys().filter((key) => key.startsWith("worlds/"));
    assert.deepEqual(checked.filter((key) => key.startsWith("worlds/")).sort(), worlds);
  });

  for (const kind of ["pack", "manifest"] as const) {
    test(`sends a ${kind} again that is damaged while it is here, and else names it`, async () => {
      await packs.addDays();
      await completed();
      await completed();
      const [pack = ""] = await packs.packKeysOf("bk-1");
      const key = kind === "pack" ? pack : packs.manifestOf("bk-1");
      const good = await fixture.opened(key);
      // As a store that rots: nothing that it lists changes.
      fixture.s3.faults.add({ do: "corrupt", on: "get", key, times: 1 });
      const first = await verify();
      assert.deepEqual(
        first.damaged.map((one) => [one.key, one.repaired]),
        [[key, true]],
      );
      assert.ok((await fixture.opened(key)).equals(good));
      packs.loseArchives();
      fixture.s3.replace(key, packs.spoiled(key));
      const second = await verify();
      assert.deepEqual(
        second.damaged.map((one) => [one.key, one.repaired]),
        [[key, false]],
      );
    });
  }

  test("does not send a pack that is damaged here too", async () => {
    await packs.addDays();
    await completed();
    const [pack = ""] = await packs.packKeysOf("bk-1");
    const path = packs.localPath(pack);
    const bytes = readFileSync(path);
    bytes.writeUInt8(bytes.readUInt8(1_000) ^ 1, 1_000);
    writeFileSync(path, bytes);
    fixture.s3.replace(pack, packs.spoiled(pack));
    const before = fixture.s3.bytesOf(pack);
    const { damaged } = await verify();
    assert.deepEqual(
      damaged.map(({ key, repaired }) => [key, repaired]),
      [[pack, false]],
    );
    assert.ok(fixture.s3.bytesOf(pack).equals(before));
  });

  test("of a host that is not the writer repairs nothing", async () => {
    await packs.addDays();
    await completed();
    const [pack = ""] = await packs.packKeysOf("bk-1");
    fixture.s3.replace(pack, packs.spoiled(pack));
    const { damaged } = await verify(packs.addHost());
    assert.deepEqual(
      damaged.map(({ repaired }) => repaired),
      [false],
    );
  });
});

test("a rotation seals packs, manifests and the list again, and nothing is sent for it", async () => {
  await packs.addDays();
  await completed();
  await completed();
  const keys = fixture.s3.keys().filter((key) => key.startsWith("worlds/"));
  const before = await Promise.all(keys.map((key) => fixture.opened(key)));
  const next = generateKey();
  await completed({ keys: [next, fixture.key], set: ["offsite.reseal_at_once=2"] });
  fixture.storage.recorded.length = 0;
  await completed({ keys: [next, fixture.key] });
  await completed({ keys: [next, fixture.key] });
  assert.equal(fixture.s3.bytesOf("svc-key-id").toString(), `${next.id}\n`);
  for (const [at, key] of keys.entries()) {
    const plain = await fixture.opened(key, [next]);
    assert.ok(key === packListObject || plain.equals(before[at] ?? Buffer.alloc(0)), key);
  }
  assert.deepEqual(fixture.storage.recorded, []);
  assert.equal((await completed({ keys: [next] })).sent, 0);
});
