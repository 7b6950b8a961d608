// What `archive.compression` changes, and that both formats are read under either setting (docs/reference/backups.md#archive).

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { until } from "@svc/mesh/testing";
import { type FaceFixture, openFaceFixture } from "../testing/face-fixture.ts";

const server = "/api/v1/servers/survival";
const first = { "level.dat": "one", "region/r.0.0.mca": "chunks" };

describe("a backup store that was set to gzip and later to zstd", () => {
  let fixture: FaceFixture;
  before(async () => {
    fixture = await openFaceFixture();
    await fixture.base.addServer("survival", "usr-1", first);
  });
  after(() => fixture?.close());

  const post = { method: "POST" };
  const archives = () => readdirSync(fixture.base.archiveDir).filter((name) => name.startsWith("survival-"));
  const settled = () =>
    until(async () => {
      const { jobs } = (await fixture.ask(`${server}/jobs`)).body as { jobs: { state: string }[] };
      return jobs.length > 0 && jobs.every(({ state }) => state !== "running");
    }, 30_000);
  const backUp = async () => {
    const before = archives();
    assert.equal((await fixture.ask(`${server}/backup`, post)).status, 202);
    await settled();
    const [name = ""] = archives().filter((one) => !before.includes(one));
    const { backups } = (await fixture.ask("/api/v1/backups")).body as { backups: { id: string }[] };
    return { id: backups[0]?.id ?? "", name, bytes: readFileSync(join(fixture.base.archiveDir, name)) };
  };
  const exported = async (id: string) => {
    const { body } = await fixture.ask(`${server}/backups/${id}/export`, post);
    const ticket = String(body["ticket"]);
    await until(
      async () => (await fixture.ask(`/api/v1/exports/${ticket}`)).body["state"] === "ready",
      20_000,
    );
    const { headers, bytes } = await fixture.ask(`/api/v1/exports/${ticket}/download`);
    return { filename: String(body["filename"]), type: headers.get("content-type"), bytes };
  };
  let gzip: Awaited<ReturnType<typeof backUp>>;

  test("writes a .tar.gz that any tar reads, and serves it under a name with that extension", async () => {
    const replica = await fixture.start(["archive.compression=gzip"]);
    gzip = await backUp();
    assert.match(gzip.name, /^survival-\d+\.tar\.gz$/);
    assert.equal(gzip.bytes.readUInt16BE(0), 0x1f8b);
    const listed = execFileSync("tar", ["-tzf", join(fixture.base.archiveDir, gzip.name)], {
      encoding: "utf8",
    });
    assert.deepEqual(listed.trim().split("\n").sort(), ["level.dat", "region/", "region/r.0.0.mca"]);
    const { filename, type, bytes } = await exported(gzip.id);
    assert.deepEqual([filename, type], [`survival-backup-${gzip.id}.tar.gz`, "application/gzip"]);
    assert.ok(bytes.equals(gzip.bytes));
    await replica.stop();
  });

  test("writes a .tar.zst from then on, and still serves and restores the .tar.gz", async () => {
    await fixture.start(["archive.manual_cooldown=0s"]);
    fixture.base.changeWorld("survival", { "level.dat": "two" });
    const zstd = await backUp();
    assert.match(zstd.name, /^survival-\d+\.tar\.zst$/);
    assert.equal(zstd.bytes.readUInt32LE(0), 0xfd2fb528);
    assert.equal((await exported(zstd.id)).type, "application/zstd");
    assert.equal((await exported(gzip.id)).type, "application/gzip");
    const json = { backup_id: gzip.id, safety_snapshot: false };
    assert.equal((await fixture.ask(`${server}/restore-backup`, { ...post, json })).status, 202);
    await settled();
    assert.deepEqual(fixture.base.worldOf("survival"), first);
  });
});
