// What somebody does to the bucket who may write to it, and has no key.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import {
  completedPass,
  type Host,
  type OffsiteFixture,
  openOffsiteFixture,
} from "../testing/offsite-fixture.ts";

let fixture: OffsiteFixture;
let host: Host;
let hosts = 0;

before(async () => {
  fixture = await openOffsiteFixture();
});
after(() => fixture?.stop());
beforeEach(async () => {
  await fixture.reset();
  host = fixture.addHost(`host-${hosts++}`);
});

const offsiteAt = (id: string) => fixture.storage.rows.get(id)?.offsite_at;
const requestsOf = (kind: string) =>
  fixture.s3.requests.filter(({ operation, key }) => operation === kind && key === fixture.keyOf("bk-1"));
const isIntact = async (id: string) =>
  (await fixture.opened(fixture.keyOf(id))).equals(readFileSync(fixture.storage.pathOf(id)));
const forge = (id: string) =>
  fixture.s3.replace(fixture.keyOf(id), randomBytes(fixture.s3.bytesOf(fixture.keyOf(id)).length));

describe("an object of the same size in the place of a copy", () => {
  test("has the record taken back and the copy sent again, and is named", async () => {
    fixture.storage.add("bk-1");
    await completedPass(host);
    forge("bk-1");
    fixture.storage.recorded.length = 0;
    const { state, report } = await host.sync();
    assert.equal(state, "incomplete");
    assert.deepEqual(
      report.failures.map(({ key }) => key),
      [fixture.keyOf("bk-1")],
    );
    assert.match(report.failures[0]?.error ?? "", /another object is in its place/);
    assert.deepEqual(fixture.storage.recorded, ["-bk-1", "bk-1"]);
    assert.ok(await isIntact("bk-1"));
    await completedPass(host);
  });

  test("is never what a world is deleted for: without the archive the record is taken back", async () => {
    fixture.storage.add("bk-1");
    await completedPass(host);
    forge("bk-1");
    rmSync(fixture.storage.pathOf("bk-1"));
    const { report } = await host.sync();
    assert.equal(offsiteAt("bk-1"), undefined);
    const worlds = report.kinds?.find(({ kind }) => kind === "worlds");
    assert.deepEqual(worlds?.not_whole, [fixture.keyOf("bk-1")]);
  });

  test("is not recorded either when it was there before the copy was sent", async () => {
    const { size_bytes } = fixture.storage.add("bk-1");
    fixture.storage.add("bk-2", { bytes: randomBytes(size_bytes) });
    await completedPass(host);
    const row = fixture.storage.rows.get("bk-1");
    if (row) row.offsite_at = undefined;
    // A genuine copy of another archive.
    fixture.s3.replace(fixture.keyOf("bk-1"), fixture.s3.bytesOf(fixture.keyOf("bk-2")));
    rmSync(join(host.stateDir, "copies.json"));
    fixture.storage.recorded.length = 0;
    assert.equal((await host.sync()).state, "incomplete");
    assert.deepEqual(fixture.storage.recorded, ["bk-1"]);
    assert.ok(await isIntact("bk-1"));
  });
});

describe("a copy with another tag", () => {
  test("that is intact is opened once, and known then", async () => {
    fixture.storage.add("bk-1");
    await completedPass(host);
    const other = fixture.addHost(`host-${hosts++}`);
    await other.run({ do: "offsite-take-over", apply: true });
    // Another machine sealed it anew.
    fixture.s3.remove(fixture.keyOf("bk-1"));
    await completedPass(other);
    await host.run({ do: "offsite-take-over", apply: true });
    for (const times of [1, 0]) {
      fixture.s3.requests.length = 0;
      await completedPass(host);
      assert.deepEqual([requestsOf("put").length, requestsOf("get").length], [0, times]);
    }
    assert.ok(offsiteAt("bk-1"));
  });

  test("is none to a host that knows no tags yet, and to one that has just stored it", async () => {
    fixture.storage.add("bk-1");
    await completedPass(host);
    for (const forget of [false, true]) {
      if (forget) rmSync(join(host.stateDir, "copies.json"));
      fixture.s3.requests.length = 0;
      await completedPass(host);
      assert.equal(requestsOf("get").length, 0);
      assert.ok(existsSync(join(host.stateDir, "copies.json")));
    }
  });
});
