// A new machine with the bucket and the key, and nothing else.

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { after, before, beforeEach, describe, test } from "node:test";
import { openObjectStore } from "@svc/object-store";
import { generateKey } from "@svc/sealed";
import { verifyBundle } from "../bundle/verify.ts";
import { type Host, type OffsiteFixture, openOffsiteFixture } from "../testing/offsite-fixture.ts";
import type { FetchedBundle } from "./fetch-db.ts";
import type { FetchedImages, FetchedUploads } from "./fetch-indexed.ts";
import type { FetchedWorlds } from "./fetch-worlds.ts";
import { indexOfKey, keyOfBundle } from "./object-key.ts";

let fixture: OffsiteFixture;
let host: Host;
let fresh: Host;
let hosts = 0;

before(async () => {
  fixture = await openOffsiteFixture();
});
after(() => fixture?.stop());
beforeEach(async () => {
  await fixture.reset();
  hosts += 1;
  host = fixture.addHost(`old-${hosts}`);
  fresh = fixture.addHost(`new-${hosts}`);
});

const backUp = async () => (await host.run<{ name: string }>({ do: "back-up", label: "daily" })).name;
const fetchDb = (bundle = "latest", about: { force?: boolean; keys?: [] } = {}) =>
  fresh.run<FetchedBundle>({ do: "offsite-fetch-db", bundle, force: about.force ?? false });
const fetchWorlds = () => fresh.run<FetchedWorlds>({ do: "offsite-fetch-worlds" });

async function sync(): Promise<void> {
  const { state, report } = await host.sync();
  assert.equal(state, "completed", JSON.stringify(report));
}

/** Puts the object of one bundle in the place of another. */
function disguise(from: string, to: string): void {
  fixture.s3.replace(keyOfBundle(to), fixture.s3.bytesOf(keyOfBundle(from)));
}

describe("the database", () => {
  test("comes back whole from the bucket and the key, and is skipped when it is in place", async () => {
    const name = await backUp();
    await sync();
    const fetched = await fetchDb();
    assert.deepEqual([fetched.name, fetched.was_in_place], [name, false]);
    const { manifest } = await verifyBundle(fetched.path, { rows: true, sidecar: true });
    assert.equal(manifest.counts.servers, 2);
    assert.deepEqual(readdirSync(fresh.bundleDir).sort(), [name, `${name}.sha256`]);
    assert.equal((await fetchDb()).was_in_place, true);
  });

  test("replaces a bundle that is damaged here", async () => {
    const name = await backUp();
    await sync();
    const { path } = await fetchDb();
    writeFileSync(path, readFileSync(path).subarray(0, 1_000));
    assert.equal((await fetchDb(name)).was_in_place, false);
    await verifyBundle(path, { rows: true, sidecar: true });
  });

  test("is not taken from an old bundle that poses as a new one", async () => {
    const name = await backUp();
    await sync();
    const posing = name.replace("-daily", "-manual").replace(/db-\d{4}/, "db-2026");
    disguise(name, posing);
    await assert.rejects(fetchDb(posing), /is db-.* under another name; the bucket was changed from outside/);
    assert.deepEqual(
      readdirSync(fresh.bundleDir).filter((one) => one.includes("manual")),
      [],
    );
  });

  test("is not taken from a bundle whose bytes were changed", async () => {
    const name = await backUp();
    await sync();
    const bytes = Buffer.from(fixture.s3.bytesOf(keyOfBundle(name)));
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 20) ^ 1, bytes.length - 20);
    fixture.s3.replace(keyOfBundle(name), bytes);
    await assert.rejects(fetchDb(name), /damaged|opens the object/);
    assert.deepEqual(readdirSync(fresh.bundleDir), []);
  });

  test("is refused when the newest bundle looks empty and an older one does not", async () => {
    const name = await backUp();
    await sync();
    await fixture.database.admin("delete from identity.users");
    await fixture.database.admin("delete from lifecycle.servers");
    try {
      const empty = await untilOther(name);
      await sync();
      await assert.rejects(fetchDb(), (error: Error) => {
        assert.match(
          error.message,
          new RegExp(`${empty} looks empty .* and ${name} has 2 accounts and 2 servers`),
        );
        return true;
      });
      assert.equal((await fetchDb(name)).counts.accounts, 2);
      assert.equal((await fetchDb("latest", { force: true })).name, empty);
    } finally {
      for (const table of ["identity.users", "lifecycle.servers"])
        await fixture.database.admin(`insert into ${table} values ('amelia'), ('survival')`);
    }
  });

  test("needs the right key, and the bucket must have it", async () => {
    await assert.rejects(fetchDb(), /the bucket has no bundle/);
    const name = await backUp();
    await sync();
    await assert.rejects(fetchDb("db-20200101T000000Z-daily.tar"), /is not in the bucket/);
    const other = fresh.run(
      { do: "offsite-fetch-db", bundle: name, force: false },
      { keys: [generateKey()] },
    );
    await assert.rejects(other, /no key opens the object/);
    await assert.rejects(fresh.run({ do: "offsite-list" }, { keys: [] }), /off-site key/);
  });
});

/** A bundle of another second: two of one second would have one name. */
async function untilOther(name: string): Promise<string> {
  for (;;) {
    const taken = await backUp().catch(() => name);
    if (taken !== name) return taken;
  }
}

describe("worlds", () => {
  test("come back where their files are missing or damaged, and others are left alone", async () => {
    const ids = ["bk-1", "bk-2", "bk-3"];
    for (const id of ids) fixture.storage.add(id);
    const before = new Map(ids.map((id) => [id, readFileSync(fixture.storage.pathOf(id))]));
    await sync();
    rmSync(fixture.storage.pathOf("bk-1"));
    writeFileSync(fixture.storage.pathOf("bk-2"), "cut");
    const done = await fetchWorlds();
    assert.deepEqual([done.fetched, done.in_place, done.missing, done.failures], [2, 1, [], []]);
    for (const id of ids)
      assert.ok(readFileSync(fixture.storage.pathOf(id)).equals(before.get(id) ?? Buffer.alloc(0)), id);
    assert.equal((await fetchWorlds()).in_place, 3);
  });

  test("that are nowhere are named, and the others come back", async () => {
    fixture.storage.add("bk-1");
    fixture.storage.add("bk-2");
    await sync();
    for (const id of ["bk-1", "bk-2"]) rmSync(fixture.storage.pathOf(id));
    fixture.s3.remove(fixture.keyOf("bk-1"));
    const done = await fetchWorlds();
    assert.deepEqual([done.fetched, done.missing.map(({ id }) => id)], [1, ["bk-1"]]);
  });

  test("of another server are not put in the place of one", async () => {
    fixture.storage.add("bk-1");
    fixture.storage.add("bk-2");
    await sync();
    fixture.s3.replace(fixture.keyOf("bk-1"), fixture.s3.bytesOf(fixture.keyOf("bk-2")));
    rmSync(fixture.storage.pathOf("bk-1"));
    const done = await fetchWorlds();
    assert.deepEqual(
      done.failures.map(({ key, error }) => [key, error]),
      [[fixture.keyOf("bk-1"), "its digest is not the recorded one"]],
    );
    assert.ok(!readdirSync(fixture.archiveDir).includes(fixture.storage.rows.get("bk-1")?.archive ?? ""));
  });
});

describe("worlds of a store that misbehaves", () => {
  const get = { on: "get", key: /^worlds/ } as const;
  for (const [fact, fault] of [
    ["answers other bytes", { ...get, do: "corrupt" }],
    ["cuts every connection", { ...get, do: "cut", afterBytes: 1_000 }],
    ["answers 500", { ...get, do: "refuse", status: 500, code: "InternalError" }],
    [
      "answers 503 with Retry-After",
      { ...get, do: "refuse", status: 503, code: "SlowDown", retryAfter: "0" },
    ],
    ["lies about the size", { do: "wrong-size", by: 1, on: ["list", "head"] }],
  ] as const) {
    test(`and ${fact} are not put in place unless they are whole, and the next fetch has all`, async () => {
      fixture.storage.add("bk-1");
      const bytes = readFileSync(fixture.storage.pathOf("bk-1"));
      await sync();
      rmSync(fixture.storage.pathOf("bk-1"));
      fixture.s3.faults.add(fault);
      const done = await fetchWorlds();
      assert.equal(done.fetched + done.failures.length, 1);
      assert.equal(existsSync(fixture.storage.pathOf("bk-1")), done.fetched === 1);
      fixture.s3.faults.clear();
      assert.deepEqual((await fetchWorlds()).failures, []);
      assert.ok(readFileSync(fixture.storage.pathOf("bk-1")).equals(bytes));
    });
  }

  test("and denies reading end the fetch, which says what is missing", async () => {
    fixture.storage.add("bk-1");
    await sync();
    rmSync(fixture.storage.pathOf("bk-1"));
    fixture.s3.faults.add({ ...get, do: "refuse", status: 403, code: "AccessDenied" });
    await assert.rejects(fetchWorlds(), /no right for this in the bucket/);
  });
});

test("a bucket that an attacker emptied is recovered from its versions", async () => {
  const set = ["offsite.bucket=versions"];
  const { s3, storage } = fixture;
  storage.add("bk-1");
  const bytes = readFileSync(storage.pathOf("bk-1"));
  const name = await backUp();
  assert.equal((await host.sync({ set })).state, "completed");
  rmSync(storage.pathOf("bk-1"));
  for (const key of s3.keys("versions")) {
    s3.replace(key, Buffer.from("ransom"), "versions");
    s3.remove(key, "versions");
  }
  assert.deepEqual(s3.keys("versions"), []);
  // What the tools of a store do: everything younger than the attack goes.
  const bucket = openObjectStore(s3.options("versions"));
  for await (const { key, versionId = "", isDeleteMarker, sizeBytes } of bucket.listVersions(""))
    if (isDeleteMarker || sizeBytes === "ransom".length) await bucket.delete(key, { versionId });
  bucket.close();
  const about = { set };
  const fetched = await fresh.run<FetchedBundle>(
    { do: "offsite-fetch-db", bundle: name, force: false },
    about,
  );
  await verifyBundle(fetched.path, { rows: true, sidecar: true });
  const worlds = await fresh.run<FetchedWorlds>({ do: "offsite-fetch-worlds" }, about);
  assert.deepEqual([worlds.fetched, worlds.missing, worlds.failures], [1, [], []]);
  assert.ok(readFileSync(storage.pathOf("bk-1")).equals(bytes));
});

describe("images and uploads", () => {
  const fetchImages = (at?: Date) => fresh.run<FetchedImages>({ do: "offsite-fetch-images", at });
  const fetchUploads = () => fresh.run<FetchedUploads>({ do: "offsite-fetch-uploads" });

  test("come back by their digests, and what is in place is left alone", async () => {
    const { builds } = fixture;
    const image = builds.addImage("packs/one", "1");
    const context = builds.addContext();
    await sync();
    const before = new Map(builds.bytes);
    builds.bytes.clear();
    builds.images.clear();
    const [images, uploads] = [await fetchImages(), await fetchUploads()];
    assert.deepEqual([images.fetched, images.failures, uploads.fetched, uploads.failures], [2, [], 1, []]);
    for (const digest of [image.digest.slice(7), context.sha256])
      assert.ok(builds.bytes.get(digest)?.equals(before.get(digest) ?? Buffer.alloc(0)));
    assert.deepEqual([(await fetchImages()).in_place, (await fetchUploads()).in_place], [2, 1]);
  });

  test("that never were are nothing to fetch, and a list that somebody deleted is a failure", async () => {
    await sync();
    assert.deepEqual([(await fetchImages()).images, (await fetchImages()).list], [0, undefined]);
    fixture.builds.addImage("packs/one", "1");
    await sync();
    for (const key of fixture.s3.keys().filter((one) => one.startsWith("registry/index/")))
      fixture.s3.remove(key);
    await assert.rejects(fetchImages(), /no list that names it: somebody deleted the lists/);
  });

  test("that are nowhere, or are other bytes, are named, and the manifest of such an image does not come back", async () => {
    const { builds } = fixture;
    const [one, two] = [builds.addImage("packs/one", "1"), builds.addImage("packs/two", "1")];
    const context = builds.addContext();
    await sync();
    builds.bytes.clear();
    const keyIn = (folder: string, digest = "") => `${folder}/${digest.replace("sha256:", "")}.sealed`;
    fixture.s3.remove(keyIn("registry/blobs", one.blobs[0]?.digest));
    const wrong = keyIn("uploads/blobs", context.sha256);
    fixture.s3.replace(wrong, fixture.s3.bytesOf(keyIn("registry/blobs", two.blobs[0]?.digest)));
    const images = await fetchImages();
    assert.deepEqual(images.missing, [keyIn("registry/blobs", one.blobs[0]?.digest)]);
    assert.deepEqual(
      [builds.bytes.has(one.digest.slice(7)), builds.bytes.has(two.digest.slice(7))],
      [false, true],
    );
    const uploads = await fetchUploads();
    assert.deepEqual(
      [uploads.failures.map(({ key }) => key), builds.bytes.has(context.sha256)],
      [[wrong], false],
    );
  });

  test("of an earlier list come back, and not by an old list that poses as the newest", async () => {
    const { builds } = fixture;
    builds.addImage("packs/one", "1");
    await sync();
    const [first = ""] = fixture.s3.keys().filter((key) => key.startsWith("registry/index/"));
    builds.addImage("packs/two", "1");
    await sync();
    const last =
      fixture.s3
        .keys()
        .filter((key) => key.startsWith("registry/index/"))
        .sort()
        .at(-1) ?? "";
    const at = indexOfKey(first)?.at;
    assert.equal((await fetchImages(at)).images, 1);
    assert.equal((await fetchImages()).images, 2);
    fixture.s3.replace(last, fixture.s3.bytesOf(first));
    await assert.rejects(fetchImages(), /under another name; the bucket was changed from outside/);
  });
});
