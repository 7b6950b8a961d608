// The folder and the bucket keep one contract; the bucket also when its store is cut, full, slow to answer or gone.

import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { loadSettings } from "@svc/config";
import { faultOf } from "@svc/mesh/testing";
import { openObjectStore } from "@svc/object-store";
import { type S3Server, startS3Server } from "@svc/object-store/testing";
import { submissions } from "@svc/proto";
import { settings as schema } from "../config.ts";
import { admin } from "../testing/fixture.ts";
import { author, contextOf, startSubmissionFixture } from "../testing/submissions.ts";
import { openBucketStore } from "./bucket-store.ts";
import { openFolderStore } from "./folder-store.ts";
import { openContextStore } from "./open.ts";
import { type ContextStore, newBlobName } from "./store.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-stores-"));
let server: S3Server;
before(async () => {
  server = await startS3Server();
});
after(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true });
});

const timing = {
  attempts: 3,
  firstPauseMs: 5,
  maxPauseMs: 20,
  requestGraceMs: 10_000,
  objectGraceMs: 20_000,
};
const inBucket = () =>
  openBucketStore(openObjectStore({ ...server.options(), prefix: "contexts", timing }), folder);
const stores: Record<string, () => ContextStore> = {
  "a folder": () => openFolderStore(join(folder, "contexts")),
  "a bucket": inBucket,
};

const { signal } = new AbortController();
const submission = () => `sub-${randomBytes(12).toString("hex")}`;
// Copies: what is written gives its memory back.
const inPieces = async function* (bytes: Buffer, size = 100_000) {
  for (let at = 0; at < bytes.length; at += size) yield Buffer.from(bytes.subarray(at, at + size));
};
async function all(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const found: Buffer[] = [];
  for await (const chunk of chunks) found.push(Buffer.from(chunk));
  return Buffer.concat(found);
}
const hashOf = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

for (const [what, open] of Object.entries(stores))
  describe(what, () => {
    test("gives back what was put, whole and by its size, and lists it until it is removed", async () => {
      const store = open();
      const id = submission();
      const blobs = [0, 1, 300_000, 9 << 20].map((size) => ({
        name: newBlobName(id, "part"),
        size,
        bytes: randomBytes(size),
      }));
      for (const { name, bytes } of blobs) await store.put(name, inPieces(bytes), signal);
      for (const { name, size, bytes } of blobs) {
        assert.equal(hashOf(await all(store.read({ name, size }, signal))), hashOf(bytes));
        assert.equal(hashOf(await all(store.readWhole(name, signal))), hashOf(bytes));
      }
      const names = blobs.map(({ name }) => name);
      const listed = (await store.list()).filter(({ name }) => name.startsWith(id));
      assert.deepEqual(listed.map(({ name }) => name).sort(), names.toSorted());
      for (const { modifiedAt } of listed) assert.ok(Math.abs(Date.now() - modifiedAt) < 600_000);
      await store.remove([...names, newBlobName(id, "part")]);
      assert.deepEqual(
        (await store.list()).filter(({ name }) => name.startsWith(id)),
        [],
      );
    });
    test("keeps nothing of a body that breaks off or is given up", async () => {
      const store = open();
      const id = submission();
      const broken = async function* () {
        yield randomBytes(100_000);
        throw new Error("the sender is gone");
      };
      await assert.rejects(store.put(newBlobName(id, "part"), broken(), signal), /the sender is gone/);
      const leaving = new AbortController();
      const slow = async function* () {
        yield randomBytes(100_000);
        leaving.abort(new Error("given up"));
        yield randomBytes(100_000);
      };
      await assert.rejects(store.put(newBlobName(id, "part"), slow(), leaving.signal), /given up/);
      assert.deepEqual(
        (await store.list()).filter(({ name }) => name.startsWith(id)),
        [],
      );
      assert.deepEqual(
        readdirSync(folder).filter((name) => name.startsWith(".")),
        [],
      );
    });
    test("has a blob that is missing, or shorter than it was, as unavailable", async () => {
      const store = open();
      const name = newBlobName(submission(), "part");
      assert.equal(await faultOf(all(store.read({ name, size: 5 }, signal))), "unavailable");
      await store.put(name, inPieces(randomBytes(10)), signal);
      await assert.rejects(all(store.read({ name, size: 11 }, signal)));
    });
  });

test("packs are uploaded into a bucket, reviewed and withdrawn from it", async () => {
  const { endpoint = "", region, bucket, accessKey, secretKey } = server.options();
  const fixture = await startSubmissionFixture(
    [
      `registry.user_uploads_context=s3://${bucket}/packs`,
      `registry.s3_endpoint=${endpoint}`,
      `registry.s3_region=${region}`,
    ],
    { SVC_UPLOADS_ACCESS_KEY: accessKey, SVC_UPLOADS_SECRET_KEY: secretKey },
  );
  const keys = () => server.keys().filter((key) => key.startsWith("packs/"));
  try {
    const { id } = await fixture.create();
    const whole = contextOf({ "world/r.mca": randomBytes(200_000) });
    await fixture.putPart({ id, offset: 0 }, whole.subarray(0, 100_000));
    await fixture.putPart({ id, offset: 100_000 }, whole.subarray(100_000));
    const done = await fixture.complete(id);
    assert.equal(done.context_sha256, hashOf(whole));
    assert.equal(keys().length, 3);
    const downloaded = await fixture.download(id);
    assert.equal(hashOf(downloaded.bytes), hashOf(whole));
    const { entries } = await fixture.gateway.call(
      submissions.listContextEntries,
      { id, limit: 20, offset: 0 },
      admin,
    );
    assert.deepEqual(
      entries.map(({ path }) => path),
      ["Dockerfile", "world/r.mca"],
    );
    const part = keys().find((key) => key.includes("/part-")) ?? "";
    server.replace(part, randomBytes(100_000));
    await assert.rejects(fixture.download(id), "bytes that are no longer the reviewed ones");
    await fixture.gateway.call(submissions.withdraw, { id }, author);
    assert.deepEqual(keys(), []);
  } finally {
    await fixture.stop();
  }
});

test("a bucket without a credential has no uploads and says which variables are missing", async () => {
  const settings = loadSettings(schema, { overrides: ["registry.user_uploads_context=s3://copies"] });
  const store = await openContextStore(settings, {});
  await assert.rejects(store.volume(), {
    fault: "uploads_store_unavailable",
    message: /SVC_UPLOADS_ACCESS_KEY and SVC_UPLOADS_SECRET_KEY must be set/,
  });
  for (const address of ["s3://", "s3://UPPER", "s3://copies/../x", "ftp://x"]) {
    const odd = loadSettings(schema, { overrides: [`registry.user_uploads_context=${address}`] });
    await assert.rejects((await openContextStore(odd, {})).volume(), /must name a folder or a bucket/);
  }
});

describe("a bucket whose store", () => {
  const blob = { name: newBlobName(`sub-${"e".repeat(24)}`, "part"), bytes: randomBytes(300_000) };
  const put = () => inBucket().put(blob.name, inPieces(blob.bytes), signal);
  const read = () => all(inBucket().read({ name: blob.name, size: blob.bytes.length }, signal));

  test("loses an answer, cuts a connection or asks for patience keeps the blob whole", async () => {
    for (const fault of [
      { do: "lose-answer", times: 1 },
      { do: "refuse", status: 503, code: "SlowDown", times: 2 },
      { do: "cut", afterBytes: 100_000, on: "put", times: 1 },
    ] as const) {
      server.faults.add(fault);
      await put();
      server.faults.clear();
      assert.equal(hashOf(await read()), hashOf(blob.bytes));
    }
    server.faults.add({ do: "cut", afterBytes: 100_000, on: "get", times: 2 });
    assert.equal(hashOf(await read()), hashOf(blob.bytes));
    server.faults.clear();
  });
  test("is full, refuses or is gone has a fault that says so", async () => {
    const refused = async (status: number, code: string) => {
      server.faults.add({ do: "refuse", status, code });
      const faults = [await faultOf(put()), await faultOf(read())];
      server.faults.clear();
      return faults;
    };
    assert.deepEqual(await refused(503, "SlowDown"), ["uploads_store_unavailable", "unavailable"]);
    assert.deepEqual(await refused(403, "AccessDenied"), ["uploads_store_unavailable", "unavailable"]);
    assert.deepEqual(await refused(507, "InsufficientStorage"), ["uploads_full", "unavailable"]);
    const gone = openObjectStore({ ...server.options(), endpoint: "http://127.0.0.1:1", timing });
    const store = openBucketStore(gone, folder);
    assert.equal(
      await faultOf(store.put(blob.name, inPieces(blob.bytes), signal)),
      "uploads_store_unavailable",
    );
  });
});
