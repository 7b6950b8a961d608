// Off-site copies in a real store: Swift with its S3 face. SVC_S3_LANE names the root in which it is installed, / or a chroot.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { CreateBucketCommand, PutBucketVersioningCommand, S3Client } from "@aws-sdk/client-s3";
import { bytesBody, type ObjectStore, type ObjectStoreOptions, openObjectStore } from "@svc/object-store";
import { createSealedBody, generateKey, open } from "@svc/sealed";
import { type Swift, startSwift } from "./swift.ts";

const root = process.env["SVC_S3_LANE"];
const mebibyte = 1024 * 1024;

describe("Swift keeps our copies", () => {
  const missing =
    root && ["usr/bin/swift-proxy-server", "proc/self"].find((path) => !existsSync(join(root, path)));
  if (!root || missing !== undefined) {
    const why = root ? `there is no ${missing} in ${root}` : "SVC_S3_LANE is not set";
    test("skipped: set SVC_S3_LANE to the root in which Swift is installed, such as /", (t) => t.skip(why));
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), "svc-s3-lane-"));
  const ring = { active: generateKey(), older: [] };
  const stores: ObjectStore[] = [];
  let swift: Swift;
  before(async () => {
    swift = await startSwift(root);
    const { accessKey: accessKeyId, secretKey: secretAccessKey, endpoint, region } = swift;
    const client = new S3Client({
      ...{ endpoint, region, forcePathStyle: true, requestChecksumCalculation: "WHEN_REQUIRED" },
      credentials: { accessKeyId, secretAccessKey },
    });
    for (const Bucket of ["copies", "versions"]) await client.send(new CreateBucketCommand({ Bucket }));
    const VersioningConfiguration = { Status: "Enabled" } as const;
    await client.send(new PutBucketVersioningCommand({ Bucket: "versions", VersioningConfiguration }));
    client.destroy();
  });
  after(async () => {
    for (const store of stores) store.close();
    await swift?.stop();
    rmSync(folder, { recursive: true });
  });

  function openStore(options: Partial<ObjectStoreOptions> = {}): ObjectStore {
    const uploadDir = join(folder, "uploads");
    const store = openObjectStore({
      ...{ ...swift, bucket: "copies", prefix: "svc", pathStyle: true, uploadDir },
      ...options,
    });
    stores.push(store);
    return store;
  }
  const collect = async (source: AsyncIterable<Uint8Array>) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of source) chunks.push(chunk);
    return Buffer.concat(chunks);
  };
  const keysOf = async (source: AsyncIterable<{ key: string }>) => {
    const keys: string[] = [];
    for await (const { key } of source) keys.push(key);
    return keys;
  };
  const read = async (store: ObjectStore, key: string, options = {}) => {
    const found = await store.get(key, options);
    assert.ok(found, key);
    return collect(found.bytes);
  };
  const putSealed = (store: ObjectStore, key: string, plain: Buffer, more = {}) =>
    store.put({
      key,
      fingerprint: key,
      body: (state) =>
        createSealedBody({
          key: ring.active,
          plainBytes: plain.length,
          readPlain: (from) => bytesBody(plain).read(from),
          state,
        }),
      ...more,
    });

  for (const size of [0, 1, 100_000, 20 * mebibyte + 3]) {
    test(`${size} bytes are sealed, stored, listed, read and opened`, async () => {
      const store = openStore();
      const plain = randomBytes(size);
      const key = `worlds/size ${size}+.sealed`;
      const { sizeBytes } = await putSealed(store, key, plain, {
        metadata: { "svc-key-id": ring.active.id },
      });
      const head = await store.head(key);
      assert.deepEqual([head?.sizeBytes, head?.metadata["svc-key-id"]], [sizeBytes, ring.active.id]);
      const found = await store.get(key, { sizeBytes });
      assert.ok(found);
      assert.ok((await collect(open(found.bytes, ring))).equals(plain));
      const sealed = await read(store, key);
      assert.ok((await read(store, key, { from: 20, to: 29 })).equals(sealed.subarray(20, 30)));
      assert.ok((await keysOf(store.list("worlds/"))).includes(key));
      await store.delete(key);
      assert.equal(await store.head(key), undefined);
      assert.equal(await store.get(key), undefined);
    });
  }

  test("a cut upload is resumed by another process with the parts that are missing", async () => {
    const plain = randomBytes(40 * mebibyte);
    const ended = new AbortController();
    const first = putSealed(openStore(), "worlds/resumed", plain, {
      signal: ended.signal,
      onProgress: () => ended.abort(),
    });
    await assert.rejects(first);
    const sent: string[] = [];
    const store = openStore({ onRequest: ({ operation }) => sent.push(operation) });
    await putSealed(store, "worlds/resumed", plain);
    const parts = sent.filter((operation) => operation === "upload a part").length;
    assert.ok(parts >= 1 && parts < 6, `${parts} parts`);
    assert.ok((await collect(open([await read(store, "worlds/resumed")], ring))).equals(plain));
    assert.deepEqual(await store.abortAbandonedUploads({ before: new Date(Date.now() + 60_000) }), []);
  });

  test("an upload that nobody resumes is aborted", async () => {
    const ended = new AbortController();
    const store = openStore({ uploadDir: join(folder, "lost") });
    const plain = randomBytes(20 * mebibyte);
    await assert.rejects(
      putSealed(store, "worlds/lost", plain, { signal: ended.signal, onProgress: () => ended.abort() }),
    );
    const aborted = await openStore().abortAbandonedUploads({ before: new Date(Date.now() + 60_000) });
    assert.deepEqual(aborted, ["worlds/lost"]);
  });

  test("a list of 1,200 objects comes in pages", async () => {
    const store = openStore({ prefix: "pages" });
    const names = Array.from({ length: 1_200 }, (_, number) => `many/${String(number).padStart(5, "0")}`);
    for (let at = 0; at < names.length; at += 50)
      await Promise.all(
        names
          .slice(at, at + 50)
          .map((key) => store.put({ key, fingerprint: "", body: () => bytesBody(Buffer.from("x")) })),
      );
    assert.deepEqual(await keysOf(store.list("many/")), names);
  });

  test("what it cannot do is found out", async () => {
    assert.deepEqual(await openStore().probe(), {
      conditionalPut: false,
      versioning: "off",
      objectLock: "off",
    });
    const { versioning } = await openStore({ bucket: "versions" }).probe();
    assert.equal(versioning, "enabled");
    assert.deepEqual(await keysOf(openStore().list("svc-probe")), []);
  });

  test("a deleted object of a versioned bucket is brought back", async () => {
    const store = openStore({ bucket: "versions" });
    const put = (text: string) =>
      store.put({ key: "world", fingerprint: "", body: () => bytesBody(Buffer.from(text)) });
    await put("good");
    await put("bad");
    await store.delete("world");
    assert.equal(await store.head("world"), undefined);
    const versions = [];
    for await (const version of store.listVersions("world")) versions.push(version);
    const good = versions.find(({ isDeleteMarker, sizeBytes }) => !isDeleteMarker && sizeBytes === 4);
    assert.ok(good && versions.some(({ isDeleteMarker, isLatest }) => isDeleteMarker && isLatest));
    assert.equal((await read(store, "world", { versionId: good.versionId })).toString(), "good");
  });

  for (const [what, options, problem] of [
    ["a wrong secret", { secretKey: "wrong" }, "credential"],
    ["a bucket that does not exist", { bucket: "nowhere" }, "no_bucket"],
  ] as const) {
    test(`${what} is explained`, async () => {
      const store = openStore(options);
      await assert.rejects(store.head("x"), { problem });
      await assert.rejects(putSealed(store, "x", Buffer.from("x")), { problem });
    });
  }
});
