import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { type Host, type OffsiteFixture, openOffsiteFixture } from "../testing/offsite-fixture.ts";
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

async function completed(about?: Parameters<Host["sync"]>[0]) {
  const { state, report } = await host.sync(about);
  assert.equal(state, "completed", JSON.stringify(report));
  return report;
}

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
    await new Promise((done) => setTimeout(done, 1_100));
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
