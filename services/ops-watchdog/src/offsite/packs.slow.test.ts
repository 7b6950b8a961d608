// Copies of deduplicated archives in packs (docs/reference/off-site.md#packs).

import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { sealedSize } from "@svc/sealed";
import {
  completedPass,
  type Host,
  type OffsiteFixture,
  openOffsiteFixture,
} from "../testing/offsite-fixture.ts";
import { type PacksFixture, packsIn } from "../testing/packs-fixture.ts";
import { keyOfManifest, packListObject, packOfKey } from "./object-key.ts";

type Fault = Parameters<OffsiteFixture["s3"]["faults"]["add"]>[0];

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

describe("a pass with packs", () => {
  test("stores each pack once and a manifest for each archive, and records them", async () => {
    await packs.addDays();
    await completed();
    assert.deepEqual(packs.recorded(), ["bk-1", "bk-2"]);
    const [first, second] = [await packs.packKeysOf("bk-1"), await packs.packKeysOf("bk-2")];
    assert.ok(second.some((key) => first.includes(key)) && second.some((key) => !first.includes(key)));
    assert.deepEqual(packs.storedPacks().sort(), [...new Set([...first, ...second])].sort());
    for (const id of ["bk-1", "bk-2"])
      assert.deepEqual(
        [packs.hasObject(packs.manifestOf(id)), packs.hasObject(packs.wholeOf(id))],
        [true, false],
      );
    for (const key of packs.storedPacks()) {
      const local = readFileSync(packs.localPath(key));
      assert.ok((await fixture.opened(key)).equals(local));
      assert.equal(fixture.s3.bytesOf(key).length, sealedSize(local.length));
    }
  });

  test("says how many archives are in packs, and what these take instead of whole files", async () => {
    assert.equal((await completed()).kinds?.find(({ kind }) => kind === "worlds")?.packed, undefined);
    await packs.addDays();
    const found = (await completed()).kinds?.find(({ kind }) => kind === "worlds")?.packed;
    const bytesOf = (keys: string[]) => keys.reduce((sum, key) => sum + fixture.s3.bytesOf(key).length, 0);
    const manifests = ["bk-1", "bk-2"].map(packs.manifestOf);
    assert.deepEqual(found, {
      copies: 2,
      whole_bytes: ["bk-1", "bk-2"].reduce((sum, id) => sum + sealedSize(packs.rowOf(id).size_bytes), 0),
      packs: packs.storedPacks().length,
      bytes: bytesOf([...packs.storedPacks(), ...manifests]),
    });
    fixture.s3.remove(packs.manifestOf("bk-2"));
    rmSync(join(fixture.archiveDir, `${packs.rowOf("bk-2").archive}.chunks`));
    const left = (await completed()).kinds?.find(({ kind }) => kind === "worlds")?.packed;
    assert.deepEqual([left?.copies, left?.packs], [1, found?.packs]);
  });

  test("with nothing to do sends, reads and writes nothing of them, once it has read the new manifests back", async () => {
    await packs.addDays();
    await completed();
    await completed();
    fixture.s3.requests.length = 0;
    const { sent, deleted } = await completed();
    assert.deepEqual([sent, deleted], [0, 0]);
    const touched = fixture.s3.requests.filter(({ key }) => key.startsWith("worlds/"));
    assert.deepEqual(
      touched.map(({ operation, key }) => [operation, key]),
      [["get", packListObject]],
    );
    assert.ok(fixture.s3.requests.length <= 31, String(fixture.s3.requests.length));
  });

  test("stores whole archives without the setting, and leaves what is there in packs", async () => {
    await packs.addDays(["bk-1"]);
    await completed();
    await packs.addDays(["bk-2"]);
    fixture.s3.requests.length = 0;
    await completed({ set: ["offsite.packs=false"] });
    assert.deepEqual(
      packs.puts().filter((key) => key !== packListObject),
      [packs.wholeOf("bk-2")],
    );
    assert.deepEqual(packs.recorded(), ["bk-1", "bk-2"]);
    assert.ok((await fixture.opened(packs.wholeOf("bk-2"))).equals(await fixture.storage.bytesOf("bk-2")));
    for (const _ of [1, 2, 3]) await completed({ set: ["offsite.packs=false", "offsite.index_keep=0s"] });
    assert.deepEqual(
      [packs.hasObject(packs.manifestOf("bk-1")), packs.storedPacks().length > 0],
      [true, true],
    );
  });

  test("stores whole what is here as a whole archive, and what has a whole copy gets no other", async () => {
    fixture.storage.add("bk-1");
    await packs.addDays(["bk-2"]);
    await completed({ set: ["offsite.packs=false"] });
    const before = fixture.s3.keys();
    await completed();
    assert.deepEqual(fixture.s3.keys(), before);
  });

  test("stores whole archives in a bucket whose objects are locked", async () => {
    await packs.addDays(["bk-1"]);
    await completed({ set: ["offsite.bucket=locked"] });
    const worlds = fixture.s3.keys("locked").filter((key) => key.startsWith("worlds/"));
    assert.deepEqual(worlds, [packs.wholeOf("bk-1")]);
    const status = await host.run<{ packs?: string }>({ do: "offsite-status" });
    assert.equal(status.packs, "locked");
  });
});

describe("what vanished from the bucket", () => {
  const harms: [fact: string, harm: (key: string) => void][] = [
    ["vanished", (key) => fixture.s3.remove(key)],
    ["was cut", (key) => fixture.s3.replace(key, fixture.s3.bytesOf(key).subarray(0, 500))],
  ];
  for (const [fact, harm] of harms) {
    test(`a pack that ${fact} takes back the records of all that name it before anything is sent`, async () => {
      await packs.addDays(["bk-1", "bk-2", "bk-3"]);
      await completed();
      const named = await Promise.all(["bk-1", "bk-2", "bk-3"].map(packs.packKeysOf));
      const shared = named[0]?.find((key) => named.every((keys) => keys.includes(key))) ?? "";
      harm(shared);
      fixture.storage.recorded.length = 0;
      fixture.s3.requests.length = 0;
      let puts: string[] | undefined;
      const atConfirm = (name: string) => {
        if (name === "confirm") puts = packs.puts();
      };
      await completed({ step: atConfirm });
      assert.deepEqual(puts, []);
      const taken = fixture.storage.recorded.slice(0, 3).sort();
      assert.deepEqual(taken, ["-bk-1", "-bk-2", "-bk-3"]);
      assert.deepEqual(packs.recorded(), ["bk-1", "bk-2", "bk-3"]);
      assert.deepEqual(
        packs.puts().filter((key) => packOfKey(key)),
        [shared],
      );
      const local = readFileSync(packs.localPath(shared));
      assert.ok((await fixture.opened(shared)).equals(local));
    });

    test(`a manifest that ${fact} takes back the record of its archive alone`, async () => {
      await packs.addDays();
      await completed();
      harm(packs.manifestOf("bk-2"));
      fixture.storage.recorded.length = 0;
      fixture.s3.requests.length = 0;
      await completed();
      assert.deepEqual(fixture.storage.recorded, ["-bk-2", "bk-2"]);
      assert.deepEqual(
        packs.puts().filter((key) => key !== packListObject),
        [packs.manifestOf("bk-2")],
      );
    });

    test(`a list that ${fact} costs requests and nothing else`, async () => {
      await packs.addDays();
      await completed();
      await completed();
      harm(packListObject);
      fixture.storage.recorded.length = 0;
      assert.equal((await completed()).sent, 0);
      assert.deepEqual(fixture.storage.recorded, []);
      assert.ok(packs.hasObject(packListObject));
    });
  }

  test("is sent whole where the pack here is another one than the copies name, and nothing that rotted is stored", async () => {
    await packs.addDays();
    await completed();
    const [pack = ""] = await packs.packKeysOf("bk-1");
    const path = packs.localPath(pack);
    fixture.s3.remove(pack);
    // In what the second day changed: only the first one needs it.
    const bytes = readFileSync(path);
    bytes.writeUInt8(bytes.readUInt8(300_000) ^ 1, 300_000);
    writeFileSync(path, bytes);
    const { state, report } = await host.sync();
    assert.equal(state, "incomplete");
    assert.match(
      report.failures[0]?.error ?? "",
      /the chunk at \d+ of survival-\w+\.pack is not what was written/,
    );
    assert.deepEqual([packs.recorded(), packs.hasObject(pack)], [["bk-2"], false]);
    assert.ok((await fixture.opened(packs.wholeOf("bk-2"))).equals(await fixture.storage.bytesOf("bk-2")));
  });
});

describe("a store that misbehaves", () => {
  const pack = { on: "put", key: /^worlds\/packs\/.*pack\.sealed$/ } as const;
  const manifest = { on: "put", key: /chunks\.sealed$/ } as const;
  const faults: [fact: string, fault: Fault][] = [
    ["refuses a pack with 500", { ...pack, do: "refuse", status: 500, code: "InternalError" }],
    ["cuts the connection within a pack", { ...pack, do: "cut", afterBytes: 1_000 }],
    ["loses a pack", { ...pack, do: "lose-object" }],
    ["loses a manifest", { ...manifest, do: "lose-object" }],
    ["refuses a manifest with 403", { ...manifest, do: "refuse", status: 403, code: "AccessDenied" }],
    ["lies about the size of a pack", { do: "wrong-size", by: -1, on: "head", key: pack.key }],
    ["leaves a pack out of its list", { do: "hide", on: "list", key: pack.key }],
    ["lies about a size in its list", { do: "wrong-size", by: -1, on: "list", key: pack.key }],
  ];
  for (const [fact, fault] of faults) {
    test(`that ${fact} gets nothing recorded, and a later pass succeeds`, async () => {
      await packs.addDays();
      fixture.s3.faults.add(fault);
      const { state } = await host.sync();
      assert.ok(state === "incomplete" || state === "failed", state);
      assert.deepEqual(packs.recorded(), []);
      fixture.s3.faults.clear();
      await completed();
      assert.deepEqual(packs.recorded(), ["bk-1", "bk-2"]);
      for (const key of packs.storedPacks())
        assert.ok((await fixture.opened(key)).equals(readFileSync(packs.localPath(key))));
    });
  }

  test("that loses every answer to a manifest deletes none of the packs that it names", async () => {
    await packs.addDays();
    const gone = { set: ["offsite.index_keep=0s"] };
    fixture.s3.faults.add({ ...manifest, do: "lose-answer" });
    for (const _ of [1, 2, 3]) await host.sync(gone);
    fixture.s3.faults.clear();
    await completed(gone);
    await completed(gone);
    assert.deepEqual(packs.recorded(), ["bk-1", "bk-2"]);
    for (const id of ["bk-1", "bk-2"])
      for (const key of await packs.packKeysOf(id)) assert.ok(packs.hasObject(key));
  });
});

describe("packs that nothing names", () => {
  const soon = { set: ["offsite.index_keep=0s"] };

  test("go in a later pass than the manifest, and what another archive names stays", async () => {
    await packs.addDays();
    await completed();
    const first = await packs.packKeysOf("bk-1");
    const alone = (await packs.packKeysOf("bk-2")).filter((key) => !first.includes(key));
    fixture.storage.add("bk-9");
    packs.forget("bk-2");
    await completed(soon);
    assert.deepEqual(
      [packs.hasObject(packs.manifestOf("bk-2")), alone.every(packs.hasObject)],
      [false, true],
    );
    assert.equal(packs.rowOf("bk-2").offsite_at, undefined);
    await completed(soon);
    assert.ok(alone.every(packs.hasObject), "marked");
    await completed(soon);
    assert.deepEqual([alone.some(packs.hasObject), first.every(packs.hasObject)], [false, true]);
    assert.equal((await completed(soon)).deleted, 0);
    assert.ok(packs.recorded().includes("bk-1"));
  });

  test("stay for the time that lists are kept", async () => {
    await packs.addDays();
    fixture.storage.add("bk-9");
    await completed();
    const before = packs.storedPacks();
    for (const id of ["bk-1", "bk-2"]) packs.forget(id);
    for (const _ of [1, 2, 3, 4]) await completed();
    assert.deepEqual(packs.storedPacks(), before);
    assert.ok(!packs.hasObject(packs.manifestOf("bk-1")));
  });

  test("stay while one manifest cannot be read", async () => {
    await packs.addDays();
    fixture.storage.add("bk-9");
    await completed();
    const before = packs.storedPacks();
    for (const id of ["bk-1", "bk-2"]) packs.forget(id);
    const other = keyOfManifest("creative-1700000000000000000.tar.zst");
    await completed(soon);
    // Nobody's, and younger than the longest retention by the bucket: it stays.
    fixture.s3.replace(other, Buffer.from("cannot be read"));
    for (const _ of [1, 2, 3]) await completed(soon);
    assert.deepEqual(packs.storedPacks(), before);
    fixture.s3.remove(other);
    for (const _ of [1, 2]) await completed(soon);
    assert.deepEqual(packs.storedPacks(), []);
  });

  for (const status of ["present", "expired"] as const)
    test(`stay while a backup of the server that is ${status} is neither here nor whole in the bucket`, async () => {
      await packs.addDays(["bk-1", "bk-2", "bk-3"]);
      await completed();
      const before = packs.storedPacks();
      for (const id of ["bk-1", "bk-3"]) packs.forget(id);
      const row = packs.rowOf("bk-2");
      row.status = status;
      rmSync(join(fixture.archiveDir, `${row.archive}.chunks`));
      fixture.s3.remove(packs.manifestOf("bk-2"));
      for (const _ of [1, 2, 3, 4]) await completed(soon);
      assert.deepEqual(packs.storedPacks(), before);
    });

  test("and are named again in time stay", async () => {
    await packs.addDays();
    await completed();
    fixture.storage.add("bk-9");
    const manifests = ["bk-1", "bk-2"].map(
      (id) => [packs.manifestOf(id), fixture.s3.bytesOf(packs.manifestOf(id))] as const,
    );
    const before = packs.storedPacks();
    const hidden = { do: "hide", on: "list", key: /chunks\.sealed$/ } as const;
    fixture.s3.faults.add(hidden);
    await host.sync({ set: ["offsite.packs=false"] });
    fixture.s3.faults.clear();
    for (const [key, bytes] of manifests) assert.ok(fixture.s3.bytesOf(key).equals(bytes));
    await completed();
    for (const _ of [1, 2]) await completed(soon);
    assert.deepEqual(packs.storedPacks(), before);
  });
});

describe("two writers", () => {
  test("the other one reads the list and goes on; the first stands by", async () => {
    await packs.addDays();
    await completed();
    const other = packs.addHost();
    assert.equal((await other.sync()).state, "standby");
    await other.run({ do: "offsite-take-over", apply: true });
    assert.equal((await completed(undefined, other)).sent, 0);
    assert.equal((await host.sync()).state, "standby");
  });

  for (const step of ["pack", "manifest", "pack-list"]) {
    test(`one that was taken over from at ${step} records nothing more`, async () => {
      await packs.addDays();
      const writer = {
        host_id: "0".repeat(32),
        name: "other.example",
        last_run_at: new Date().toISOString(),
      };
      const takenOver = (name: string) => {
        if (name === step) fixture.s3.replace("svc-writer", Buffer.from(JSON.stringify(writer)));
      };
      const { state } = await host.sync({ step: takenOver });
      assert.equal(state, "standby");
      assert.deepEqual(packs.recorded(), step === "pack-list" ? ["bk-1", "bk-2"] : []);
      assert.equal(packs.hasObject(packListObject), false);
    });
  }
});
