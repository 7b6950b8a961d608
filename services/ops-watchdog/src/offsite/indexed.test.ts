// Images and contexts in the bucket, and the verification of all copies.

import assert from "node:assert/strict";
import { readFileSync, rmSync } from "node:fs";
import { after, before, beforeEach, describe, test } from "node:test";
import { until } from "@svc/local-stack/testing";
import {
  completedPass,
  type Host,
  type OffsiteFixture,
  openOffsiteFixture,
} from "../testing/offsite-fixture.ts";
import { indexOfKey } from "./object-key.ts";
import type { Verified } from "./verify-copies.ts";

let fixture: OffsiteFixture;
let host: Host;
let hosts = 0;

before(async () => {
  fixture = await openOffsiteFixture();
});
after(() => fixture?.stop());
beforeEach(async () => {
  await fixture.reset();
  hosts += 1;
  host = fixture.addHost(`host-${hosts}`);
});

const add = (id: string) => fixture.storage.add(id, {});
const hasObject = (key: string) => fixture.s3.keys().includes(key);
const backUp = async () => (await host.run<{ name: string }>({ do: "back-up", label: "daily" })).name;

const completed = (about?: Parameters<Host["sync"]>[0]) => completedPass(host, about);

describe("images and uploads", () => {
  const indexes = (folder: string) => fixture.s3.keys().filter((key) => key.startsWith(`${folder}/index/`));
  const objectOf = (folder: string, digest: string) => `${folder}/${digest.replace("sha256:", "")}.sealed`;
  const kindIn = (report: Awaited<ReturnType<typeof completed>>, kind: string) =>
    report.kinds?.find((one) => one.kind === kind);

  test("are copied by their digests, each once, with a list that changes only when they do", async () => {
    const { builds } = fixture;
    const layer = Buffer.alloc(30_000, "layer");
    const image = builds.addImage("packs/one", "1", layer);
    builds.addImage("packs/two", "1", layer);
    const { sha256 } = builds.addContext();
    const report = await completed();
    const blob = objectOf("registry/blobs", image.blobs[0]?.digest ?? "");
    assert.ok((await fixture.opened(blob)).equals(layer));
    assert.ok(hasObject(objectOf("registry/manifests", image.digest)));
    assert.ok(hasObject(objectOf("uploads/blobs", sha256)));
    assert.deepEqual([kindIn(report, "images")?.objects, kindIn(report, "uploads")?.objects], [3, 1]);
    const before = [...indexes("registry"), ...indexes("uploads")];
    assert.equal(before.length, 2);
    assert.equal((await completed()).sent, 0);
    builds.addImage("packs/three", "1");
    await completed();
    assert.deepEqual([indexes("registry").length, indexes("uploads").length], [2, 1]);
  });

  test("that the registry lost stay in the list while something names them", async () => {
    const { builds } = fixture;
    const image = builds.addImage("packs/one", "1");
    builds.addImage("packs/two", "1");
    await completed();
    builds.wanted.push({ repository: "packs/one", digest: image.digest });
    builds.images.clear();
    builds.bytes.clear();
    const report = await completed();
    const newest = indexes("registry").sort().at(-1) ?? "";
    const { images } = JSON.parse((await fixture.opened(newest)).toString()) as { images: unknown[] };
    assert.deepEqual(images, [image]);
    assert.equal(kindIn(report, "images")?.missing_count, 0);
  });

  test("are named when their bytes are neither here nor there, or not those of the digest", async () => {
    const { builds } = fixture;
    const image = builds.addImage("packs/one", "1");
    const { sha256 } = builds.addContext();
    builds.bytes.set(sha256, Buffer.alloc(40_000, "other"));
    builds.bytes.delete(image.blobs[0]?.digest.slice(7) ?? "");
    const { state, report } = await host.sync();
    assert.equal(state, "incomplete");
    assert.deepEqual(report.failures.map(({ key }) => key).sort(), [
      objectOf("registry/blobs", image.blobs[0]?.digest ?? ""),
      objectOf("uploads/blobs", sha256),
    ]);
    assert.deepEqual(kindIn(report, "uploads")?.missing, [objectOf("uploads/blobs", sha256)]);
  });

  test("go once the list that named them was replaced for long enough, and nothing else names them", async () => {
    await backUp();
    add("bk-1");
    const { builds } = fixture;
    const old = builds.addImage("packs/one", "1");
    const kept = builds.addImage("packs/two", "1");
    await completed();
    builds.images.delete("packs/one:1");
    await completed();
    assert.equal((await completed()).deleted, 0);
    // Two lists of one second have the times of two: the newer may be dated ahead.
    const newest = Math.max(...indexes("registry").map((key) => indexOfKey(key)?.at.getTime() ?? 0));
    await until(() => Date.now() > newest + 1_000);
    const { deleted } = await completed({ set: ["offsite.index_keep=1s"] });
    assert.equal(deleted, 3, "a manifest, a blob and a list");
    assert.equal(hasObject(objectOf("registry/manifests", old.digest)), false);
    assert.ok(hasObject(objectOf("registry/manifests", kept.digest)));
  });

  test("that are damaged are found by their digest, and sent again", async () => {
    const { builds } = fixture;
    const image = builds.addImage("packs/one", "1");
    const other = builds.addContext();
    await completed();
    const blob = objectOf("registry/blobs", image.blobs[0]?.digest ?? "");
    const context = objectOf("uploads/blobs", other.sha256);
    fixture.s3.replace(blob, fixture.s3.bytesOf(context));
    const { damaged } = await host.run<Verified>({ do: "offsite-verify" });
    assert.deepEqual(
      damaged.map(({ key, repaired }) => [key, repaired]),
      [[blob, true]],
    );
    assert.equal((await fixture.opened(blob)).length, 50_000);
  });
});

describe("verification", () => {
  for (const [fact, fault] of [
    ["stored otherwise than it was sent", { do: "store-other-bytes", on: "put", key: /^worlds/, times: 1 }],
    ["answered with other bytes", { do: "corrupt", on: "get", key: /^worlds/, times: 1 }],
  ] as const) {
    test(`finds what was ${fact}, and sends it again`, async () => {
      add("bk-1");
      if (fault.on === "put") fixture.s3.faults.add(fault);
      await completed();
      if (fault.on === "get") fixture.s3.faults.add(fault);
      const { damaged } = await host.run<Verified>({ do: "offsite-verify" });
      assert.deepEqual(
        damaged.map((one) => [one.key, one.repaired]),
        [[fixture.keyOf("bk-1"), true]],
      );
      assert.ok(
        (await fixture.opened(fixture.keyOf("bk-1"))).equals(readFileSync(fixture.storage.pathOf("bk-1"))),
      );
    });
  }

  test("opens copies, and sends a damaged one again while the archive is here", async () => {
    await backUp();
    add("bk-1");
    await completed();
    const sound = await host.run<Verified>({ do: "offsite-verify" });
    assert.deepEqual([sound.checked.length >= 2, sound.damaged], [true, []]);
    const bytes = Buffer.from(fixture.s3.bytesOf(fixture.keyOf("bk-1")));
    bytes.writeUInt8(bytes.readUInt8(50_000) ^ 1, 50_000);
    fixture.s3.replace(fixture.keyOf("bk-1"), bytes);
    const found = await host.run<Verified>({ do: "offsite-verify", sample: 5 });
    assert.deepEqual(
      found.damaged.map(({ key, repaired }) => [key, repaired]),
      [[fixture.keyOf("bk-1"), true]],
    );
    assert.ok(
      (await fixture.opened(fixture.keyOf("bk-1"))).equals(readFileSync(fixture.storage.pathOf("bk-1"))),
    );
  });

  test("names the copy of another world in the place of one", async () => {
    add("bk-1");
    add("bk-2");
    await completed();
    fixture.s3.replace(fixture.keyOf("bk-1"), fixture.s3.bytesOf(fixture.keyOf("bk-2")));
    rmSync(fixture.storage.pathOf("bk-1"));
    const { damaged } = await host.run<Verified>({ do: "offsite-verify" });
    assert.deepEqual(
      damaged.map(({ key, problem, repaired }) => [key, problem, repaired]),
      [[fixture.keyOf("bk-1"), "its digest is not the recorded one", false]],
    );
  });

  test("of a sample opens again what was damaged, and the status names it until it is intact", async () => {
    const ids = ["bk-1", "bk-2", "bk-3", "bk-4", "bk-5", "bk-6"];
    for (const id of ids) add(id);
    await completed();
    const key = fixture.keyOf("bk-1");
    const intact = Buffer.from(fixture.s3.bytesOf(key));
    fixture.s3.replace(key, fixture.s3.bytesOf(fixture.keyOf("bk-2")));
    rmSync(fixture.storage.pathOf("bk-1"));
    const named = async (sample?: number) => {
      await host.run({ do: "offsite-verify", ...(sample !== undefined && { sample }) });
      return (await host.run<{ damaged?: string[] }>({ do: "offsite-status" })).damaged;
    };
    assert.deepEqual(await named(), [key]);
    assert.deepEqual([await named(1), await named(1)], [[key], [key]]);
    fixture.s3.replace(key, intact);
    assert.deepEqual(await named(1), []);
  });
});
