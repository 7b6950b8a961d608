import assert from "node:assert/strict";
import { readFileSync, rmSync } from "node:fs";
import { after, before, beforeEach, describe, test } from "node:test";
import { generateKey, sealedSize } from "@svc/sealed";
import {
  completedPass,
  type Host,
  type OffsiteFixture,
  openOffsiteFixture,
} from "../testing/offsite-fixture.ts";
import { day } from "../testing/storage-stub.ts";

let fixture: OffsiteFixture;
let host: Host;
let hosts = 0;

before(async () => {
  fixture = await openOffsiteFixture();
});
after(() => fixture?.stop());
beforeEach(async () => {
  await fixture.reset();
  host = addHost();
});

function addHost(): Host {
  hosts += 1;
  return fixture.addHost(`host-${hosts}`);
}
const offsiteAt = (id: string) => fixture.storage.rows.get(id)?.offsite_at;
const add = (id: string, about: Parameters<OffsiteFixture["storage"]["add"]>[1] = {}) =>
  fixture.storage.add(id, about);
const hasObject = (key: string) => fixture.s3.keys().includes(key);
const backUp = async () => (await host.run<{ name: string }>({ do: "back-up", label: "daily" })).name;

const completed = (about?: Parameters<Host["sync"]>[0]) => completedPass(host, about);

describe("a pass", () => {
  test("copies bundles and archives, records them, and has a bundle of the bucket know of it", async () => {
    const name = await backUp();
    const { size_bytes } = add("bk-1");
    const report = await completed();
    assert.equal(fixture.s3.bytesOf(fixture.keyOf("bk-1")).length, sealedSize(size_bytes));
    assert.ok(
      (await fixture.opened(fixture.keyOf("bk-1"))).equals(readFileSync(fixture.storage.pathOf("bk-1"))),
    );
    assert.ok(offsiteAt("bk-1"));
    assert.ok(hasObject(`db/${name}.sealed`));
    assert.equal(fixture.s3.bytesOf("svc-key-id").toString().trim(), fixture.key.id);
    assert.equal(report.writer?.is_this_host, true);
    const kinds = report.kinds?.map(({ kind, missing_count, not_whole_count }) => [
      kind,
      missing_count + not_whole_count,
    ]);
    assert.deepEqual(kinds, [
      ["db", 0],
      ["worlds", 0],
      ["images", 0],
      ["uploads", 0],
    ]);
  });

  test("with nothing to do sends and deletes nothing, in few requests", async () => {
    await backUp();
    add("bk-1");
    await completed();
    await completed();
    fixture.s3.requests.length = 0;
    const { sent, deleted } = await completed();
    assert.deepEqual([sent, deleted], [0, 0]);
    assert.ok(fixture.s3.requests.length <= 30, String(fixture.s3.requests.length));
  });

  test("records a copy that a killed pass had stored, unsent", async () => {
    add("bk-1");
    await completed();
    const row = fixture.storage.rows.get("bk-1");
    if (row) row.offsite_at = undefined;
    fixture.s3.requests.length = 0;
    await completed();
    assert.ok(offsiteAt("bk-1"));
    assert.ok(
      !fixture.s3.requests.some(({ operation, key }) => operation === "put" && key === fixture.keyOf("bk-1")),
    );
  });

  for (const [fact, harm] of [
    ["vanished", (key: string) => fixture.s3.remove(key)],
    ["was cut", (key: string) => fixture.s3.replace(key, fixture.s3.bytesOf(key).subarray(0, 500))],
  ] as const) {
    test(`takes back the record of a copy that ${fact}, and sends it again`, async () => {
      add("bk-1");
      await completed();
      harm(fixture.keyOf("bk-1"));
      fixture.storage.recorded.length = 0;
      await completed();
      assert.deepEqual(fixture.storage.recorded, ["-bk-1", "bk-1"]);
      assert.ok(
        (await fixture.opened(fixture.keyOf("bk-1"))).equals(readFileSync(fixture.storage.pathOf("bk-1"))),
      );
    });
  }

  test("names what is neither here nor there, and takes back its record", async () => {
    add("bk-1");
    await completed();
    fixture.s3.remove(fixture.keyOf("bk-1"));
    rmSync(fixture.storage.pathOf("bk-1"));
    const { kinds } = await completed();
    assert.deepEqual(kinds?.[1]?.missing, [fixture.keyOf("bk-1")]);
    assert.equal(offsiteAt("bk-1"), undefined);
  });

  test("confirms the copies to storage with the time at which the bucket was listed", async () => {
    const before = new Date().toISOString();
    await completed();
    assert.ok((fixture.storage.confirmedAt() ?? "") >= before);
  });

  test("stores nothing of an archive whose bytes are not those of its row, and goes on", async () => {
    const bytes = Buffer.alloc(100_000, "x");
    add("bk-1", { sha256: "0".repeat(64), bytes });
    add("bk-2");
    const { state, report } = await host.sync();
    assert.equal(state, "incomplete");
    assert.deepEqual(
      report.failures.map(({ key, error }) => [key, error]),
      [[fixture.keyOf("bk-1"), "its digest is not the recorded one"]],
    );
    assert.deepEqual([hasObject(fixture.keyOf("bk-1")), hasObject(fixture.keyOf("bk-2"))], [false, true]);
    assert.equal(offsiteAt("bk-1"), undefined);
  });

  test("copies the others however many archives in a row have rotted", async () => {
    for (let n = 1; n <= 4; n += 1) add(`bk-${n}`, { sha256: "0".repeat(64), bytes: Buffer.alloc(n, "x") });
    add("bk-5");
    fixture.builds.addContext();
    const { state, report } = await host.sync();
    assert.deepEqual([state, report.failed], ["incomplete", 4]);
    assert.ok(offsiteAt("bk-5"));
    assert.equal(report.kinds?.find(({ kind }) => kind === "uploads")?.objects, 1);
  });

  test("resumes the upload of a large archive where it was cut", async () => {
    const bytes = Buffer.alloc(20 << 20, "large");
    add("bk-1", { bytes });
    fixture.s3.faults.add({ do: "refuse", status: 500, code: "InternalError", on: "upload-part", times: 4 });
    const first = await host.sync();
    assert.equal(first.state, "incomplete");
    fixture.s3.faults.clear();
    await completed();
    assert.ok((await fixture.opened(fixture.keyOf("bk-1"))).equals(bytes));
    assert.deepEqual(fixture.s3.openUploads(), []);
  });
});

describe("a store that misbehaves", () => {
  type Fault = Parameters<OffsiteFixture["s3"]["faults"]["add"]>[0];
  const put = { on: "put", key: /^worlds/ } as const;
  // A store that is slow gets less time than it needs.
  const hurry = ["offsite.object_deadline=1s", "offsite.min_rate=1Mi"];
  const faults: [fact: string, fault: Fault, set?: string[]][] = [
    ["refuses with 500", { ...put, do: "refuse", status: 500, code: "InternalError" }],
    ["refuses with 503", { ...put, do: "refuse", status: 503, code: "SlowDown", retryAfter: "0" }],
    ["denies with 403", { ...put, do: "refuse", status: 403, code: "AccessDenied" }],
    ["cuts the connection", { ...put, do: "cut", afterBytes: 1_000 }],
    ["takes 1 KiB a second", { ...put, do: "stall", bytesPerSecond: 1_024 }, hurry],
    ["loses the object", { ...put, do: "lose-object" }],
    ["lies about the size", { do: "wrong-size", by: -1, on: "head", key: /^worlds/ }],
  ];
  for (const [fact, fault, set = []] of faults) {
    test(`that ${fact} gets nothing recorded, and the next pass succeeds`, async () => {
      add("bk-1");
      fixture.s3.faults.add(fault);
      const { state, report } = await host.sync({ set });
      assert.ok(state === "incomplete" || state === "failed", JSON.stringify(report));
      assert.equal(offsiteAt("bk-1"), undefined);
      fixture.s3.faults.clear();
      await completed();
      assert.ok(
        (await fixture.opened(fixture.keyOf("bk-1"))).equals(readFileSync(fixture.storage.pathOf("bk-1"))),
      );
      assert.ok(offsiteAt("bk-1"));
    });
  }

  for (const [fact, fault] of [
    ["leaves an object out", { do: "hide", on: "list", key: /^worlds/ }],
    ["lies about a size", { do: "wrong-size", by: -1, on: "list", key: /^worlds/ }],
  ] as const) {
    test(`whose list ${fact} has the record taken back, and the copy sent again`, async () => {
      add("bk-1");
      await completed();
      fixture.storage.recorded.length = 0;
      fixture.s3.faults.add(fault);
      await host.sync();
      assert.deepEqual(fixture.storage.recorded, ["-bk-1", "bk-1"]);
      fixture.s3.faults.clear();
      assert.equal((await completed()).sent, 0);
      assert.ok(
        (await fixture.opened(fixture.keyOf("bk-1"))).equals(readFileSync(fixture.storage.pathOf("bk-1"))),
      );
    });
  }

  for (const minutes of [20, -20]) {
    test(`whose clock is ${minutes} minutes ahead gets the copies, and the report says so`, async () => {
      add("bk-1");
      fixture.s3.setClock(minutes * 60_000);
      const { store } = await completed();
      assert.ok(offsiteAt("bk-1"));
      assert.ok(Math.abs((store?.clock_ahead_seconds ?? 0) - minutes * 60) < 60, JSON.stringify(store));
      fixture.s3.setClock(0);
      assert.equal((await completed()).store?.clock_ahead_seconds, undefined);
    });
  }

  test("whose objects somebody deleted gets again what is here, and what is gone is named", async () => {
    await backUp();
    for (const id of ["bk-1", "bk-2"]) add(id);
    await completed();
    rmSync(fixture.storage.pathOf("bk-2"));
    for (const key of fixture.s3.keys()) fixture.s3.remove(key);
    fixture.s3.requests.length = 0;
    const { kinds } = await completed();
    assert.deepEqual(kinds?.[1]?.missing, [fixture.keyOf("bk-2")]);
    const deleted = fixture.s3.requests.filter(({ operation }) => operation === "delete");
    assert.deepEqual(
      deleted.filter(({ key }) => /^(worlds|registry|uploads)/.test(key)),
      [],
    );
    assert.deepEqual([hasObject(fixture.keyOf("bk-1")), offsiteAt("bk-2")], [true, undefined]);
  });

  test("that loses an answer has the copy recorded all the same", async () => {
    add("bk-1");
    fixture.s3.faults.add({ ...put, do: "lose-answer", times: 1 });
    await completed();
    assert.ok(offsiteAt("bk-1"));
  });

  test("that cannot be listed has nothing deleted or recorded", async () => {
    add("bk-1");
    await completed();
    fixture.storage.recorded.length = 0;
    fixture.s3.faults.add({ do: "refuse", status: 500, code: "InternalError", on: "list" });
    const { state } = await host.sync();
    assert.equal(state, "failed");
    assert.deepEqual(fixture.storage.recorded, []);
  });
});

describe("deletion", () => {
  const old = () => new Date(Date.now() - day).toISOString();

  test("takes the copy of a deleted backup once its retention has passed", async () => {
    await backUp();
    add("bk-1");
    add("bk-2");
    await completed();
    const row = fixture.storage.rows.get("bk-1");
    assert.ok(row);
    const key = fixture.keyOf("bk-1");
    Object.assign(row, { status: "deleted" });
    rmSync(fixture.storage.pathOf("bk-1"));
    await completed();
    assert.ok(hasObject(key), "its retention has not passed");
    Object.assign(row, { expires_at: old() });
    const { deleted } = await completed();
    assert.deepEqual([deleted, hasObject(key), row.offsite_at], [1, false, undefined]);
    assert.ok(hasObject(fixture.keyOf("bk-2")));
  });

  test("leaves everything where the database lists no archive", async () => {
    await backUp();
    add("bk-1");
    await completed();
    const key = fixture.keyOf("bk-1");
    const row = fixture.storage.rows.get("bk-1");
    Object.assign(row ?? {}, { status: "deleted", expires_at: old() });
    assert.equal((await completed()).deleted, 0);
    assert.ok(hasObject(key));
  });

  test("keeps as many bundles as the setting says, and the newest", async () => {
    add("bk-1");
    const first = await backUp();
    await completed({ set: ["offsite.db_keep=1"] });
    const old = `db/${first.replace("2026", "2025")}.sealed`;
    fixture.s3.replace(old, Buffer.from("an old one"));
    fixture.s3.replace("db/notes.txt", Buffer.from("somebody else's"));
    await completed({ set: ["offsite.db_keep=1"] });
    assert.deepEqual([hasObject(old), hasObject("db/notes.txt")], [false, true]);
    assert.ok(hasObject(`db/${first}.sealed`));
  });
});

describe("the key", () => {
  test("that is another one stops a pass before it copies or deletes anything", async () => {
    add("bk-1");
    await completed();
    const before = fixture.s3.keys();
    add("bk-2");
    const { state, report } = await host.sync({ keys: [generateKey()] });
    assert.equal(state, "wrong_key");
    assert.match(report.error ?? "", /sealed with the key .* nothing was copied or deleted/);
    assert.deepEqual(fixture.s3.keys(), before);
  });

  test("that is another one stops it also where nobody says which it is any more", async () => {
    add("bk-1");
    await completed();
    fixture.s3.remove("svc-key-id");
    assert.equal((await host.sync({ keys: [generateKey()] })).state, "wrong_key");
    await completed();
    assert.equal(fixture.s3.bytesOf("svc-key-id").toString().trim(), fixture.key.id);
  });

  test("that is missing stops a pass, and the report says how to make one", async () => {
    const { state, report } = await host.sync({ keys: [] });
    assert.equal(state, "failed");
    assert.match(report.error ?? "", /there is no off-site key.*svc offsite keygen/);
    assert.deepEqual(fixture.s3.keys(), []);
  });

  test("is rotated: old copies are sealed again over time, and both keys read meanwhile", async () => {
    for (const id of ["bk-1", "bk-2", "bk-3"]) add(id);
    await completed();
    const next = generateKey();
    const keys = [next, fixture.key];
    await completed({ keys, set: ["offsite.reseal_at_once=2"] });
    assert.equal(fixture.s3.bytesOf("svc-key-id").toString(), `${next.id}\n${fixture.key.id}\n`);
    await completed({ keys });
    assert.equal(fixture.s3.bytesOf("svc-key-id").toString(), `${next.id}\n`);
    for (const id of ["bk-1", "bk-2", "bk-3"]) {
      const plain = await fixture.opened(fixture.keyOf(id), [next]);
      assert.ok(plain.equals(readFileSync(fixture.storage.pathOf(id))));
    }
    assert.equal((await host.sync()).state, "wrong_key");
  });
});
