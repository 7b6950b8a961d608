import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, test } from "node:test";
import { bytesBody } from "./body.ts";
import { collect, putBytes, read, startFixture, timing } from "./testing/fixture.ts";
import type { Body, ObjectStore } from "./types.ts";

const { s3, openStore, countOf } = await startFixture();

describe("reading", () => {
  const bytes = randomBytes(3 * 1024 * 1024);

  test("goes on where the connection was cut, with the same object", async () => {
    const store = openStore();
    await putBytes(store, "cut", bytes);
    s3.faults.add({ on: "get", do: "cut", afterBytes: 1_000_000, times: 2 });
    const before = countOf("get", "cut");
    assert.ok((await read(store, "cut"))?.equals(bytes));
    assert.equal(countOf("get", "cut") - before, 3);
  });

  test("fails when the object was replaced between two connections", async () => {
    const store = openStore();
    await putBytes(store, "replaced", bytes);
    s3.faults.add({ on: "get", do: "cut", afterBytes: 1_000_000, times: 1 });
    const found = await store.get("replaced");
    s3.replace("replaced", randomBytes(bytes.length));
    assert.ok(found);
    await assert.rejects(collect(found.bytes), { problem: "changed" });
  });

  test("ends when the store sends 1 KiB a second, however often it is asked", async () => {
    await putBytes(openStore(), "slow", bytes);
    s3.faults.add({ on: "get", do: "stall", bytesPerSecond: 1_024 });
    const store = openStore({ timing: { ...timing, attempts: 2, requestGraceMs: 500 } });
    await assert.rejects(read(store, "slow"), { problem: "unavailable" });
  });

  test("ends the connection of a reader that leaves early", async () => {
    const store = openStore();
    await putBytes(store, "left", bytes);
    for (let turn = 0; turn < 20; turn += 1) {
      const found = await store.get("left");
      assert.ok(found);
      for await (const chunk of found.bytes) if (chunk.length > 0) break;
    }
    assert.ok((await read(store, "left"))?.equals(bytes));
  });
});

describe("an upload in parts", () => {
  const size = 3 * 8 * 1024 * 1024 + 5;
  const bytes = randomBytes(size);
  const bodyOf = (source: Buffer, state = "one"): Body => ({ ...bytesBody(source), state });
  const put = (store: ObjectStore, key: string, body: Body = bodyOf(bytes)) =>
    store.put({ key, fingerprint: "bytes", body: () => body });

  test("stores the bytes, tells its progress and leaves no upload open", async () => {
    const progress: number[] = [];
    const store = openStore();
    await store.put({
      key: "large",
      fingerprint: "bytes",
      body: () => bodyOf(bytes),
      metadata: { "svc-key-id": "abc" },
      onProgress: (sent) => progress.push(sent),
    });
    assert.ok(s3.bytesOf("large").equals(bytes));
    assert.equal(s3.metadataOf("large")["svc-key-id"], "abc");
    assert.deepEqual([progress.at(-1), progress.length], [size, 4]);
    assert.deepEqual(s3.openUploads(), []);
  });

  test("survives 500s, lost answers and cuts of single parts", async () => {
    s3.faults.add({ on: "upload-part", do: "refuse", status: 500, code: "InternalError", times: 1 });
    s3.faults.add({ on: "upload-part", do: "lose-answer", times: 1 });
    s3.faults.add({ on: "upload-part", do: "cut", afterBytes: 1_000_000, times: 1 });
    s3.faults.add({ on: "complete-upload", do: "lose-answer", times: 1 });
    const store = openStore();
    await put(store, "rough");
    assert.ok(s3.bytesOf("rough").equals(bytes));
    assert.deepEqual(s3.openUploads(), []);
  });

  test("fails when its source ends too early or goes on too long, and can be put again", async () => {
    const store = openStore();
    for (const source of [bytes.subarray(0, -1), Buffer.concat([bytes, Buffer.from("x")])]) {
      const body = { ...bodyOf(source), sizeBytes: size };
      await assert.rejects(put(store, "wrong", body), { problem: "malformed" });
    }
    await put(store, "wrong");
    assert.ok(s3.bytesOf("wrong").equals(bytes));
  });

  test("goes on with the parts that are missing", async () => {
    const store = openStore();
    const broken = s3.faults.add({ on: "upload-part", do: "refuse", status: 403, code: "AccessDenied" });
    await assert.rejects(put(store, "resumed"), { problem: "denied" });
    broken.remove();
    s3.faults.add({ on: "complete-upload", do: "refuse", status: 403, code: "AccessDenied", times: 1 });
    await assert.rejects(put(store, "resumed"), { problem: "denied" });
    const before = countOf("upload-part", "resumed");
    await put(store, "resumed");
    assert.equal(countOf("upload-part", "resumed"), before);
    assert.equal(countOf("create-upload", "resumed"), 1);
    assert.ok(s3.bytesOf("resumed").equals(bytes));
  });

  test("starts anew for another source, another state, or when the store forgot it", async () => {
    const cutOff = async (store: ObjectStore, key: string) => {
      const fault = s3.faults.add({ on: "complete-upload", do: "refuse", status: 403, code: "AccessDenied" });
      await assert.rejects(put(store, key));
      fault.remove();
    };
    const store = openStore();
    await cutOff(store, "other");
    const changed = randomBytes(size);
    await store.put({ key: "other", fingerprint: "changed", body: () => bodyOf(changed) });
    assert.ok(s3.bytesOf("other").equals(changed));
    await cutOff(store, "state");
    await put(store, "state", bodyOf(bytes, "two"));
    assert.ok(s3.bytesOf("state").equals(bytes));
    await cutOff(store, "forgotten");
    const aborted = await openStore().abortAbandonedUploads({ before: new Date(Date.now() + 60_000) });
    assert.deepEqual(aborted, ["forgotten"]);
    await put(store, "forgotten");
    assert.ok(s3.bytesOf("forgotten").equals(bytes));
    assert.deepEqual(s3.openUploads(), []);
  });

  test("of a source that changed since it was cut is not sent, and begins anew next time", async () => {
    const store = openStore();
    const broken = s3.faults.add({ on: "upload-part", do: "refuse", status: 403, code: "AccessDenied" });
    await assert.rejects(put(store, "changed"), { problem: "denied" });
    broken.remove();
    const changed = Buffer.from(bytes);
    changed[5] = (changed[5] ?? 0) ^ 1;
    await assert.rejects(put(store, "changed", bodyOf(changed)), { problem: "changed" });
    assert.deepEqual(s3.openUploads(), []);
    await put(store, "changed", bodyOf(changed));
    assert.ok(s3.bytesOf("changed").equals(changed));
  });

  test("keeps to the rate that is set", async () => {
    const store = openStore({ uploadRate: 2 * 1024 * 1024 });
    const startedAt = performance.now();
    await putBytes(store, "paced", randomBytes(4 * 1024 * 1024));
    const seconds = (performance.now() - startedAt) / 1_000;
    assert.ok(seconds > 0.9, `${seconds} s for 4 MiB at 2 MiB/s after a second of burst`);
  });
});
