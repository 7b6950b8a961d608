// Deduplicated archives through the service, its Jobs and the daily run (docs/reference/backups.md#deduplicated).

import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { Readable } from "node:stream";
import { after, before, describe, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { fetchBytes, type Mesh, sendBytes } from "@svc/mesh";
import { account, staff, until } from "@svc/mesh/testing";
import { backups, offsiteArchives } from "@svc/proto";
import { openReaperFixture, type ReaperFixture } from "../testing/reaper/fixture.ts";

const name = "survival";
const owner = account("usr-1");
const region = randomBytes(300_000).toString("base64");
const first = { "level.dat": "one", "region/r.0.0.mca": region };
const second = { "level.dat": "two", "region/r.0.0.mca": `${region.slice(0, -9)}and more.` };

describe("deduplicated backups", () => {
  let fixture: ReaperFixture;
  let watchdog: Mesh;
  before(async () => {
    fixture = await openReaperFixture();
    watchdog = await fixture.base.nats.connect("ops-watchdog");
    await fixture.restart(["archive.deduplicate=true"]);
    await fixture.base.addServer(name, "usr-1", first);
    await fixture.base.addServer("another", "usr-2", first);
  });
  after(async () => {
    await watchdog?.drain(500);
    await fixture?.close();
  });

  const external = () => fixture.base.external;
  const settled = async (server = name) => {
    const jobs = async () => (await external().call(backups.listJobs, { name: server }, staff)).jobs;
    await until(
      async () => (await jobs()).every((job) => job.state !== "running" && job.then_restore !== "pending"),
      30_000,
    );
    return (await jobs())[0];
  };
  const backUp = async (server = name) => {
    await external().call(backups.create, { name: server }, staff);
    const job = await settled(server);
    assert.equal(job?.state, "succeeded", JSON.stringify(job));
    const [row] = await fixture.backupsOf(server);
    assert.ok(row);
    return row;
  };
  const restore = async (backup_id: string, about: { only?: string[] } = {}) => {
    await external().call(backups.restore, { name, backup_id, safety_snapshot: false, ...about }, owner);
    return settled();
  };
  const assertWorld = (files: Record<string, string>) =>
    assert.ok(isDeepStrictEqual(fixture.base.worldOf(name), files), "the world is another one");
  const ending = (end: string) => readdirSync(fixture.base.archiveDir).filter((file) => file.endsWith(end));
  const readWhole = async (id: string) => {
    const { byteTransfer } = await watchdog.forward(offsiteArchives.readArchive, { id });
    assert.ok(byteTransfer);
    const { body } = await fetchBytes(byteTransfer);
    return Buffer.concat(await body.toArray());
  };
  const digestOf = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
  const localOf = async (id: string) =>
    (await watchdog.call(offsiteArchives.listArchives, {})).items.find((item) => item.id === id)?.local;
  const verifyAll = () =>
    fixture.runOnce({ overrides: ["storage.reaper_read_back_age=0s"], retentionOnly: true });

  test("the second one adds little, and the daily run verifies both", async () => {
    await backUp();
    const [pack = ""] = ending(".pack");
    const before = readFileSync(join(fixture.base.archiveDir, pack)).length;
    fixture.base.changeWorld(name, second);
    await backUp();
    assert.deepEqual([fixture.archives().length, ending(".chunks").length], [0, 2]);
    const added = ending(".pack")
      .filter((file) => file !== pack)
      .reduce((sum, file) => sum + readFileSync(join(fixture.base.archiveDir, file)).length, 0);
    assert.ok(added > 0 && added < 0.2 * before, `${added} bytes were added to ${before}`);
    const run = await verifyAll();
    assert.deepEqual([run.summary["verified"], run.state], [2, "succeeded"], JSON.stringify(run));
  });

  test("the off-site copy is the whole archive, the same each time, with the digest that is recorded", async () => {
    for (const { id, sha256, size_bytes } of await fixture.backupsOf(name)) {
      assert.equal(await localOf(id), "whole");
      const bytes = await readWhole(id);
      assert.deepEqual([digestOf(bytes), bytes.length], [sha256, size_bytes]);
      assert.ok(bytes.equals(await readWhole(id)));
    }
  });

  test("each restores bit for bit, whole and single files", async () => {
    const [newest, oldest] = await fixture.backupsOf(name);
    assert.equal((await restore(oldest?.id ?? ""))?.state, "succeeded");
    assertWorld(first);
    assert.equal((await restore(newest?.id ?? "", { only: ["level.dat"] }))?.state, "succeeded");
    assertWorld({ ...first, "level.dat": "two" });
  });

  test("a damaged pack is named, nothing is restored from it, and a copy that is brought back replaces it", async () => {
    const [, oldest] = await fixture.backupsOf(name);
    const { id = "", size_bytes = 0 } = oldest ?? {};
    const copy = await readWhole(id);
    const pack = ending(".pack").find((file) => readFileSync(fileOf(file)).length > 100_000) ?? "";
    const good = readFileSync(fileOf(pack));
    const bad = Buffer.from(good);
    bad.writeUInt8(bad.readUInt8(100_000) ^ 1, 100_000);
    writeFileSync(fileOf(pack), bad);
    const run = await verifyAll();
    assert.equal(run.summary["corrupt"], 2, JSON.stringify(run));
    assert.ok(
      run.notes.some((note) => note.includes(pack)),
      JSON.stringify(run.notes),
    );
    const before = fixture.base.worldOf(name);
    await assert.rejects(restore(id));
    assertWorld(before);

    const { byteTransfer } = await watchdog.forward(offsiteArchives.writeArchive, { id });
    assert.ok(byteTransfer);
    await sendBytes(byteTransfer, Readable.from([copy]), { contentLength: size_bytes });
    assert.deepEqual([fixture.archives().length, ending(".chunks").length], [1, 1]);
    assert.equal(await localOf(id), "whole");
    assert.equal((await restore(id))?.state, "succeeded");
    assertWorld(first);
    writeFileSync(fileOf(pack), good);
    await verifyAll();
    assert.ok((await fixture.backupsOf(name)).every(({ corrupt_at }) => corrupt_at === null));
  });

  test("switched off and on again, archives of both kinds are read", async () => {
    await fixture.restart([]);
    const plain = await backUp();
    assert.ok(fixture.archives().some((file) => plain.backup_ref.endsWith(file)));
    await fixture.restart(["archive.deduplicate=true"]);
    const again = await backUp();
    assert.ok(ending(".chunks").some((file) => file === `${basename(again.backup_ref)}.chunks`));
    const run = await verifyAll();
    assert.deepEqual([run.summary["verified"], run.state], [4, "succeeded"], JSON.stringify(run));
  });

  test("content goes only when nothing refers to it, and only when no Job can know it any more", async () => {
    const rows = await fixture.backupsOf(name);
    const kept = rows[0];
    for (const { id } of rows.slice(1)) await external().call(backups.expire, { id }, staff);
    const now = ["archive.pack_grace=0s"];
    const sweep = () => fixture.runOnce({ overrides: now, retentionOnly: true });
    await sweep();
    await sweep();
    assert.equal((await restore(kept?.id ?? ""))?.state, "succeeded");
    assertWorld(first);

    const other = await backUp("another");
    await external().call(backups.expire, { id: kept?.id ?? "" }, staff);
    const isOurs = (file: string) => file.startsWith(name);
    const left = ending(".pack").filter(isOurs);
    await sweep();
    assert.deepEqual(ending(".chunks"), [`${basename(other.backup_ref)}.chunks`]);
    assert.deepEqual(ending(".pack").filter(isOurs), left);
    assert.deepEqual(
      ending(".retired"),
      left.map((pack) => `${pack}.retired`),
    );
    await sweep();
    assert.deepEqual(ending(".pack").filter(isOurs), left, "a Job may still run that knows them");
    const longAgo = new Date(Date.now() - 2 * 3_600_000);
    for (const mark of ending(".retired")) utimesSync(fileOf(mark), longAgo, longAgo);
    await sweep();
    assert.deepEqual(readdirSync(fixture.base.archiveDir).filter(isOurs), []);
    assert.equal(digestOf(await readWhole(other.id)), other.sha256);
  });

  test("a backup that finds damage is whole, and those before it are verified by the next run", async () => {
    const packs = ending(".pack").filter((file) => file.startsWith("another"));
    for (const pack of packs) {
      const bytes = readFileSync(fileOf(pack));
      bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1);
      writeFileSync(fileOf(pack), bytes);
    }
    const made = await backUp("another");
    const run = await fixture.runOnce({ retentionOnly: true });
    assert.equal(run.summary["corrupt"], 1, JSON.stringify(run));
    const rows = await fixture.backupsOf("another");
    assert.deepEqual(
      rows.map(({ id, corrupt_at }) => [id === made.id, corrupt_at === null]),
      [
        [true, true],
        [false, false],
      ],
    );
    assert.equal(digestOf(await readWhole(made.id)), made.sha256);
  });

  const fileOf = (file: string) => join(fixture.base.archiveDir, file);
});
