// A store that misbehaves while copies are deleted, sealed again, verified, fetched and taken over.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { after, before, beforeEach, describe, test } from "node:test";
import { generateKey } from "@svc/sealed";
import {
  completedPass,
  type Host,
  type OffsiteFixture,
  openOffsiteFixture,
} from "../testing/offsite-fixture.ts";
import { day } from "../testing/storage-stub.ts";
import type { FetchedWorlds } from "./fetch-worlds.ts";
import type { Verified } from "./verify-copies.ts";

type Fault = Parameters<OffsiteFixture["s3"]["faults"]["add"]>[0];

let fixture: OffsiteFixture;
let host: Host;
let other: Host;
let hosts = 0;

before(async () => {
  fixture = await openOffsiteFixture();
});
after(() => fixture?.stop());
beforeEach(async () => {
  await fixture.reset();
  hosts += 1;
  host = fixture.addHost(`host-${hosts}`);
  other = fixture.addHost(`other-${hosts}`);
  await host.run({ do: "back-up", label: "daily" });
  for (const id of ["bk-1", "bk-2"]) fixture.storage.add(id);
  await completed();
});

const hasObject = (key: string) => fixture.s3.keys().includes(key);

const completed = (about?: Parameters<Host["sync"]>[0]) => completedPass(host, about);

async function assertReadable(keys = [fixture.key]): Promise<void> {
  for (const id of ["bk-1", "bk-2"])
    assert.ok(
      (await fixture.opened(fixture.keyOf(id), keys)).equals(readFileSync(fixture.storage.pathOf(id))),
      id,
    );
}

/** What a person who deletes a backup leaves behind once its retention has passed. */
function expire(id: string): void {
  const row = fixture.storage.rows.get(id);
  assert.ok(row);
  Object.assign(row, { status: "deleted", expires_at: new Date(Date.now() - day).toISOString() });
  rmSync(fixture.storage.pathOf(id));
}

describe("a deletion", () => {
  const on = "delete";
  const faults: [fact: string, fault: Fault, isGone: boolean][] = [
    ["denies with 403", { on, do: "refuse", status: 403, code: "AccessDenied" }, false],
    ["refuses with 500", { on, do: "refuse", status: 500, code: "InternalError" }, false],
    ["refuses with 503", { on, do: "refuse", status: 503, code: "SlowDown", retryAfter: "0" }, false],
    ["carries it out and loses every answer", { on, do: "lose-answer" }, true],
  ];
  for (const [fact, fault, isGone] of faults) {
    test(`that the store ${fact} keeps its record, and the next pass finishes it`, async () => {
      const key = fixture.keyOf("bk-1");
      expire("bk-1");
      fixture.s3.faults.add({ ...fault, key });
      const { state } = await host.sync();
      assert.notEqual(state, "completed");
      assert.deepEqual([hasObject(key), hasObject(fixture.keyOf("bk-2"))], [!isGone, true]);
      assert.ok(fixture.storage.rows.get("bk-1")?.offsite_at);
      fixture.s3.faults.clear();
      await completed();
      assert.deepEqual([hasObject(key), fixture.storage.rows.get("bk-1")?.offsite_at], [false, undefined]);
    });
  }

  test("is not carried out by a host that is not the writer any more", async () => {
    expire("bk-1");
    const writer = { host_id: "0".repeat(32), name: "other.example", last_run_at: new Date().toISOString() };
    const takenOver = (step: string) => {
      if (step === "contexts") fixture.s3.replace("svc-writer", Buffer.from(JSON.stringify(writer)));
    };
    const { state, report } = await host.sync({ step: takenOver });
    assert.deepEqual([state, report.deleted, report.writer?.name], ["standby", 0, "other.example"]);
    assert.ok(hasObject(fixture.keyOf("bk-1")));
  });
});

describe("a rotation", () => {
  const put = { on: "put", key: /^worlds/ } as const;
  const faults: [fact: string, fault: Fault][] = [
    ["refuses with 500", { ...put, do: "refuse", status: 500, code: "InternalError" }],
    ["cuts the connection", { ...put, do: "cut", afterBytes: 1_000 }],
    ["answers and stores nothing", { ...put, do: "lose-object" }],
    ["answers with other bytes", { on: "get", key: /^worlds/, do: "corrupt" }],
    ["lies about the size", { on: "head", key: /worlds\//, do: "wrong-size", by: -1 }],
  ];
  for (const [fact, fault] of faults) {
    test(`by a store that ${fact} keeps the older key, and the next pass finishes it`, async () => {
      const next = generateKey();
      const keys = [next, fixture.key];
      fixture.s3.faults.add(fault);
      const { state } = await host.sync({ keys });
      assert.notEqual(state, "completed");
      assert.equal(fixture.s3.bytesOf("svc-key-id").toString(), `${next.id}\n${fixture.key.id}\n`);
      await assertReadable(keys);
      fixture.s3.faults.clear();
      await completed({ keys });
      assert.equal(fixture.s3.bytesOf("svc-key-id").toString(), `${next.id}\n`);
      await assertReadable([next]);
    });
  }
});

describe("a rotation of the only copy there is", () => {
  const places: [fact: string, key: RegExp][] = [
    ["of the object", /^worlds/],
    ["of the second copy", /^resealed/],
    ["of both", /worlds/],
  ];
  for (const [fact, key] of places)
    for (const [size, bytes] of [
      ["a small one", randomBytes(1_000)],
      ["one in segments", randomBytes(500_000)],
      ["one in parts", randomBytes(20 << 20)],
    ] as const)
      test(`by a store that keeps other bytes ${fact}, ${size}, loses nothing`, async () => {
        fixture.storage.add("bk-3", { bytes });
        await completed();
        for (const id of ["bk-1", "bk-2", "bk-3"]) rmSync(fixture.storage.pathOf(id));
        const next = generateKey();
        const keys = [next, fixture.key];
        fixture.s3.faults.add({ on: ["put", "upload-part"], key, do: "store-other-bytes" });
        assert.equal((await host.sync({ keys })).state, "incomplete");
        assert.equal(fixture.s3.bytesOf("svc-key-id").toString(), `${next.id}\n${fixture.key.id}\n`);
        fixture.s3.faults.clear();
        await completed({ keys });
        assert.ok((await fixture.opened(fixture.keyOf("bk-3"), [next])).equals(bytes));
        assert.equal(fixture.s3.bytesOf("svc-key-id").toString(), `${next.id}\n`);
        assert.deepEqual(
          fixture.s3.keys().filter((one) => one.startsWith("resealed/")),
          [],
        );
      });
});

describe("a verification", () => {
  const get = { on: "get", key: /^(worlds|db)/ } as const;
  const faults: [fact: string, fault: Fault][] = [
    ["refuses with 500", { ...get, do: "refuse", status: 500, code: "InternalError" }],
    ["refuses with 503", { ...get, do: "refuse", status: 503, code: "SlowDown", retryAfter: "0" }],
    ["denies with 403", { ...get, do: "refuse", status: 403, code: "AccessDenied" }],
    ["cuts every connection", { ...get, do: "cut", afterBytes: 100 }],
  ];
  for (const [fact, fault] of faults) {
    test(`by a store that ${fact} fails, and calls nothing damaged`, async () => {
      fixture.s3.faults.add(fault);
      await assert.rejects(host.run({ do: "offsite-verify" }));
      assert.equal(existsSync(`${host.stateDir}/verification.json`), false);
    });
  }

  test("with another key opens nothing, and leaves every copy as it is", async () => {
    const before = fixture.s3.keys().map((key) => fixture.s3.bytesOf(key));
    const about = { keys: [generateKey()] };
    const { checked, damaged, wrong_key } = await host.run<Verified & { wrong_key?: string }>(
      { do: "offsite-verify" },
      about,
    );
    assert.deepEqual([checked, damaged], [[], []]);
    assert.match(wrong_key ?? "", /sealed with the key [0-9a-f]{16}, and this host has/);
    assert.deepEqual(
      fixture.s3.keys().map((key) => fixture.s3.bytesOf(key)),
      before,
    );
    assert.equal(existsSync(`${host.stateDir}/verification.json`), false);
  });

  test("after a rotation that the bucket does not name yet names what is damaged, and replaces nothing", async () => {
    const key = fixture.keyOf("bk-1");
    const spoiled = Buffer.from("SVCSEAL1 and nothing of it");
    fixture.s3.replace(key, spoiled);
    const { damaged } = await host.run<Verified>(
      { do: "offsite-verify" },
      { keys: [generateKey(), fixture.key] },
    );
    assert.deepEqual(
      damaged.map((one) => [one.key, one.repaired]),
      [[key, false]],
    );
    assert.ok(fixture.s3.bytesOf(key).equals(spoiled));
  });

  test("names the one copy that the store does not answer for, and opens the others", async () => {
    fixture.s3.faults.add({
      ...get,
      key: fixture.keyOf("bk-1"),
      do: "refuse",
      status: 500,
      code: "InternalError",
    });
    const { checked, damaged, unread } = await host.run<Verified>({ do: "offsite-verify" });
    assert.deepEqual([damaged, unread.map(({ key }) => key)], [[], [fixture.keyOf("bk-1")]]);
    assert.deepEqual(
      [checked.includes(fixture.keyOf("bk-1")), checked.includes(fixture.keyOf("bk-2"))],
      [false, true],
    );
  });
});

describe("a fetch of worlds", () => {
  const fetchWorlds = (about?: Parameters<Host["run"]>[1]) =>
    other.run<FetchedWorlds>({ do: "offsite-fetch-worlds" }, about);

  test("with another key puts nothing in place and says so", async () => {
    rmSync(fixture.storage.pathOf("bk-1"));
    const { fetched, failures } = await fetchWorlds({ keys: [generateKey()] });
    assert.deepEqual([fetched, failures.map(({ key }) => key)], [0, [fixture.keyOf("bk-1")]]);
    assert.match(failures[0]?.error ?? "", /no key opens the object/);
    assert.equal(existsSync(fixture.storage.pathOf("bk-1")), false);
    assert.equal((await fetchWorlds()).fetched, 1);
  });

  for (const minutes of [20, -20]) {
    test(`from a store whose clock is ${minutes} minutes ahead brings them back`, async () => {
      rmSync(fixture.storage.pathOf("bk-1"));
      fixture.s3.setClock(minutes * 60_000);
      assert.equal((await fetchWorlds()).fetched, 1);
    });
  }
});

describe("a take-over", () => {
  const takeOver = () => other.run<{ done: boolean }>({ do: "offsite-take-over", apply: true });
  const put = { on: "put", key: "svc-writer" } as const;

  test("whose answer is lost is known to have been one", async () => {
    fixture.s3.faults.add({ ...put, do: "lose-answer", times: 1 });
    await takeOver().catch(() => undefined);
    assert.equal((await takeOver()).done, false, "it is the writer already");
    assert.equal((await other.sync()).state, "completed");
    assert.equal((await host.sync()).state, "standby");
  });

  for (const [fact, fault] of [
    ["denies with 403", { ...put, do: "refuse", status: 403, code: "AccessDenied" }],
    ["refuses with 500", { ...put, do: "refuse", status: 500, code: "InternalError" }],
    ["answers and stores nothing", { ...put, do: "lose-object" }],
  ] as const) {
    test(`that the store ${fact} leaves the writer as it was`, async () => {
      fixture.s3.faults.add(fault);
      await assert.rejects(takeOver());
      fixture.s3.faults.clear();
      assert.equal((await other.sync()).state, "standby");
      await completed();
    });
  }
});
