import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, test } from "node:test";
import { bytesBody } from "./body.ts";
import { putBytes, read, startFixture, timing } from "./testing/fixture.ts";
import type { ObjectStore, ObjectStoreOptions, RequestEvent } from "./types.ts";

const { s3, openStore, countOf } = await startFixture({
  buckets: {
    copies: { versioning: "off" },
    kept: { versioning: "enabled", objectLock: { mode: "COMPLIANCE", days: 30 } },
    versions: { versioning: "enabled" },
  },
});

async function listed(source: AsyncIterable<{ key: string }>): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of source) keys.push(key);
  return keys;
}

describe("objects", () => {
  for (const [what, key] of [
    ["plain letters", "worlds/one.tar.zst"],
    ["signs and blanks", "worlds/a b+c (d)'*!~&=?#%.x"],
    ["other scripts", "worlds/世界/ü"],
  ] as const) {
    test(`with ${what} in their key are stored, listed, read and deleted`, async () => {
      const store = openStore({ prefix: "svc/copies" });
      const bytes = randomBytes(100_000);
      const { etag } = await store.put({
        key,
        fingerprint: "",
        body: () => bytesBody(bytes),
        metadata: { "svc-key-id": "abc" },
      });
      const head = await store.head(key);
      assert.deepEqual(
        [head?.sizeBytes, head?.etag, head?.metadata],
        [100_000, etag, { "svc-key-id": "abc" }],
      );
      assert.ok(s3.bytesOf(`svc/copies/${key}`).equals(bytes));
      assert.deepEqual(await listed(store.list("worlds/")), [key]);
      assert.ok((await read(store, key))?.equals(bytes));
      assert.ok((await read(store, key, { from: 10, to: 19 }))?.equals(bytes.subarray(10, 20)));
      assert.ok((await read(store, key, { from: 99_999 }))?.equals(bytes.subarray(99_999)));
      await store.delete(key);
      await store.delete(key);
      assert.deepEqual([await store.head(key), await store.get(key)], [undefined, undefined]);
    });
  }

  test("without bytes are stored and read", async () => {
    const store = openStore();
    await putBytes(store, "empty", Buffer.alloc(0));
    assert.equal((await read(store, "empty"))?.length, 0);
    assert.equal((await store.head("empty"))?.sizeBytes, 0);
  });

  test("are listed in pages of a thousand, each once, and none outside the prefix", async () => {
    const names = Array.from({ length: 2_500 }, (_, number) => `many/${String(number).padStart(5, "0")}`);
    for (const name of names) s3.replace(`pages/${name}`, Buffer.from("x"));
    s3.replace("pages2/x", Buffer.from("x"));
    const before = countOf("list");
    assert.deepEqual(await listed(openStore({ prefix: "pages" }).list("")), names);
    assert.equal(countOf("list") - before, 3);
  });

  for (const key of ["", "/a", "a/../b", "..", "x".repeat(1_000)])
    test(`with the key ${key.slice(0, 10)} are refused before a request is made`, async () => {
      const before = s3.requests.length;
      await assert.rejects(putBytes(openStore(), key, Buffer.from("x")), { problem: "rejected" });
      assert.equal(s3.requests.length, before);
    });

  test("of another size than expected are refused", async () => {
    const store = openStore();
    await putBytes(store, "sized", Buffer.from("12345"));
    await assert.rejects(store.get("sized", { sizeBytes: 6 }), {
      problem: "malformed",
      message: "sized has 5 bytes instead of 6",
    });
  });

  test("whose size the store does not tell are malformed, and not empty", async () => {
    const store = openStore();
    await putBytes(store, "untold", Buffer.from("12345"));
    s3.faults.add({ do: "hide-length", key: /untold/, times: 2 });
    const untold = { problem: "malformed", message: "the store does not tell the size of untold" };
    await assert.rejects(store.head("untold"), untold);
    await assert.rejects(store.get("untold"), untold);
    assert.equal((await store.head("untold"))?.sizeBytes, 5);
  });
});

describe("conditional puts", () => {
  test("let one of two writers win", async () => {
    const [one, two] = [openStore(), openStore()];
    const put = (store: ObjectStore, name: string) =>
      store.putIf({ key: "writer", bytes: Buffer.from(name), only: "absent" });
    const results = await Promise.allSettled([put(one, "one"), put(two, "two")]);
    assert.deepEqual(results.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
    const { etag } = (await one.head("writer")) ?? {};
    assert.ok(etag);
    const replaced = await one.putIf({ key: "writer", bytes: Buffer.from("1"), only: { etag } });
    await assert.rejects(two.putIf({ key: "writer", bytes: Buffer.from("2"), only: { etag } }), {
      problem: "conflict",
    });
    await one.delete("writer");
    await assert.rejects(
      two.putIf({ key: "writer", bytes: Buffer.from("2"), only: { etag: replaced.etag } }),
      { problem: "conflict" },
    );
  });

  const ways = [
    ["kept", true],
    ["ignored", false],
    ["refused", false],
  ] as const;
  for (const [way, wanted] of ways) {
    test(`that are ${way} are found out by the probe, which leaves nothing behind`, async () => {
      s3.setConditionalPut(way);
      const store = openStore({ prefix: `probe-${way}` });
      assert.equal((await store.probe()).conditionalPut, wanted);
      assert.deepEqual(await listed(store.list("")), []);
      s3.setConditionalPut("kept");
    });
  }
});

describe("versions", () => {
  test("and object lock are found out by the probe", async () => {
    assert.deepEqual(await openStore().probe(), {
      conditionalPut: true,
      versioning: "off",
      objectLock: "off",
    });
    assert.deepEqual(await openStore({ bucket: "kept" }).probe(), {
      conditionalPut: true,
      versioning: "enabled",
      objectLock: { mode: "compliance", days: 30 },
    });
  });

  test("that the access key may not ask for are unknown", async () => {
    s3.faults.add({ on: "bucket", do: "refuse", status: 403, code: "AccessDenied" });
    const { versioning, objectLock } = await openStore().probe();
    assert.deepEqual([versioning, objectLock], ["unknown", "unknown"]);
  });

  test("bring back what was overwritten and deleted", async () => {
    const store = openStore({ bucket: "versions" });
    await putBytes(store, "world", Buffer.from("good"));
    await putBytes(store, "world", Buffer.from("ransom"));
    await store.delete("world");
    assert.equal(await store.head("world"), undefined);
    const versions = [];
    for await (const version of store.listVersions("")) if (version.key === "world") versions.push(version);
    const marker = versions.find(({ isDeleteMarker, isLatest }) => isDeleteMarker && isLatest);
    const oldest = versions.find(({ sizeBytes, isDeleteMarker }) => !isDeleteMarker && sizeBytes === 4);
    assert.ok(marker && oldest);
    assert.equal((await read(store, "world", { versionId: oldest.versionId }))?.toString(), "good");
    await store.delete("world", { versionId: marker.versionId });
    assert.equal((await read(store, "world"))?.toString(), "ransom");
  });

  test("of a locked bucket cannot be deleted", async () => {
    const store = openStore({ bucket: "kept" });
    const { versionId } = await putBytes(store, "locked", Buffer.from("x"));
    assert.ok(versionId);
    await assert.rejects(store.delete("locked", { versionId }), { problem: "denied" });
  });
});

describe("a store that refuses", () => {
  const refusals: [string, Partial<ObjectStoreOptions>, string, RegExp][] = [
    ["a wrong secret", { secretKey: "wrong" }, "credential", /offsite\.secret_key_ref/],
    ["an unknown access key", { accessKey: "NOBODY" }, "credential", /offsite\.access_key_ref/],
    ["a bucket that does not exist", { bucket: "nowhere" }, "no_bucket", /no bucket nowhere .* create it/],
    ["a port at which nobody listens", { endpoint: "http://127.0.0.1:1" }, "unavailable", /does not respond/],
    ["a name that does not exist", { endpoint: "http://s3.invalid" }, "rejected", /offsite\.endpoint/],
  ];
  for (const [what, options, problem, message] of refusals) {
    test(`${what} is explained, for each call, and the secret is in no message`, async () => {
      const store = openStore(options);
      const calls = [
        () => store.head("x"),
        () => store.get("x"),
        () => putBytes(store, "x", Buffer.from("x")),
        () => store.delete("x"),
        () => listed(store.list("")),
        () => store.probe(),
      ];
      for (const call of calls) {
        await assert.rejects(call, (error: Error & { problem?: string }) => {
          assert.equal(error.problem, problem, error.message);
          assert.match(error.message, message);
          const secret = options.secretKey ?? s3.options().secretKey;
          return secret === "wrong" || !error.message.includes(secret);
        });
      }
    });
  }

  test("for want of a right is explained", async () => {
    s3.faults.add({ on: "put", do: "refuse", status: 403, code: "AccessDenied" });
    await assert.rejects(putBytes(openStore(), "x", Buffer.from("x")), {
      problem: "denied",
      message: /no right for this in the bucket copies: put/,
    });
  });

  test("is not asked again", async () => {
    const before = countOf("put", "once");
    s3.faults.add({ key: "once", do: "refuse", status: 403, code: "AccessDenied" });
    await assert.rejects(putBytes(openStore(), "once", Buffer.from("x")));
    assert.equal(countOf("put", "once") - before, 1);
  });
});

describe("a clock that is 20 minutes off", () => {
  for (const ahead of [20 * 60_000, -20 * 60_000]) {
    test(`${ahead > 0 ? "behind" : "ahead"} is corrected by the first answer, for each kind of call`, async () => {
      s3.setClock(ahead);
      const first = openStore();
      await putBytes(first, "clock", Buffer.from("x"));
      assert.ok(Math.abs(first.clockOffsetMs() - ahead) < 60_000, `${first.clockOffsetMs()}`);
      for (const call of [
        (store: ObjectStore) => store.head("clock"),
        (store: ObjectStore) => listed(store.list("")),
        (store: ObjectStore) => read(store, "clock"),
        (store: ObjectStore) =>
          store.putIf({ key: `clock-${ahead}`, bytes: Buffer.from("x"), only: "absent" }),
      ])
        await call(openStore());
    });
  }
});

describe("failures that pass", () => {
  for (const [what, fault] of [
    ["500", { do: "refuse", status: 500, code: "InternalError" }],
    ["503 with Retry-After", { do: "refuse", status: 503, code: "SlowDown", retryAfter: "1" }],
    ["429", { do: "refuse", status: 429, code: "TooManyRequests" }],
    ["a lost answer", { do: "lose-answer" }],
  ] as const) {
    test(`such as ${what} are tried again`, async () => {
      const store = openStore();
      const calls: [string, () => Promise<unknown>][] = [
        ["put", () => putBytes(store, "again", Buffer.from("again"))],
        ["head", () => store.head("again")],
        ["list", () => listed(store.list("again"))],
        ["get", () => read(store, "again")],
        ["delete", () => store.delete("again")],
      ];
      for (const [, call] of calls) {
        s3.faults.add({ ...fault, times: 2 });
        await call();
      }
      assert.equal(await store.head("again"), undefined);
    });
  }

  test("are reported with the pause that Retry-After asks for", async () => {
    const events: RequestEvent[] = [];
    const retrying = { ...timing, maxPauseMs: 1_000 };
    const store = openStore({ onRequest: (event) => events.push(event), timing: retrying });
    s3.replace("x", Buffer.from("x"));
    s3.faults.add({ do: "refuse", status: 503, code: "SlowDown", retryAfter: "1", times: 1 });
    await store.head("x");
    assert.deepEqual(
      events.map(({ operation, status, problem, retryInMs }) => ({ operation, status, problem, retryInMs })),
      [
        { operation: "head", status: 503, problem: "unavailable", retryInMs: 1_000 },
        { operation: "head", status: 200, problem: undefined, retryInMs: undefined },
      ],
    );
  });

  test("that do not pass end the call", async () => {
    const before = s3.requests.length;
    s3.faults.add({ do: "refuse", status: 500, code: "InternalError" });
    await assert.rejects(openStore().head("x"), {
      problem: "unavailable",
      message: /answered head with 500/,
    });
    assert.equal(s3.requests.length - before, timing.attempts);
  });

  test("end at once when the caller gives up", async () => {
    s3.faults.add({ do: "refuse", status: 503, code: "SlowDown", retryAfter: "3600" });
    const giveUp = new AbortController();
    const store = openStore({
      timing: { ...timing, maxPauseMs: 3_600_000 },
      onRequest: () => giveUp.abort(new Error("given up")),
    });
    await assert.rejects(store.head("x", { signal: giveUp.signal }));
  });

  test("a body that arrived changed is refused by the store, and sent again", async () => {
    const store = openStore();
    s3.faults.add({ do: "refuse", status: 400, code: "XAmzContentSHA256Mismatch", times: 1 });
    await putBytes(store, "digest", Buffer.from("x"));
    assert.equal(s3.bytesOf("digest").toString(), "x");
  });
});
