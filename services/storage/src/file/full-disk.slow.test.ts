// What callers of the external face get when a world volume or the archive store is full: 507 with its code, where it
// is known at once, and the same code in the operation or job where it turns out later. Nothing half-done is left.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { until } from "@svc/mesh/testing";
import { makeZip } from "../../../../libs/world/src/testing/zip.ts";
import { contentDigest, type FaceFixture, openFaceFixture } from "../testing/face-fixture.ts";
import { readFiles } from "../testing/worlds.ts";

const base = "/api/v1/servers/survival";
type Op = { id: string; state: string; error?: { code: string; message: string } };
type Job = { kind: string; state: string; message?: string };

describe("a full disk", { skip: process.getuid?.() !== 0 && "needs root for a tmpfs" }, () => {
  let fixture: FaceFixture;
  const mounted: string[] = [];
  const mount = (path: string, size: string) => {
    mkdirSync(path, { recursive: true });
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", path]);
    mounted.push(path);
  };
  const inWorld = (path: string) => join(fixture.worldDir("survival"), path);
  before(async () => {
    fixture = await openFaceFixture();
    mount(fixture.worldDir("survival"), "8m");
    mount(fixture.base.archiveDir, "24m");
    await fixture.start(["archive.manual_cooldown=0s"]);
    await fixture.base.addServer("survival", "usr-1", { "level.dat": "one", "mods/a.jar": "old" });
  });
  after(async () => {
    for (const path of mounted) execFileSync("umount", ["-l", path]);
    await fixture?.close();
  });

  /** Runs something that must change nothing in the world. */
  async function unchanged<T>(act: () => Promise<T>): Promise<T> {
    const before = readFiles(fixture.worldDir("survival"));
    const result = await act();
    assert.deepEqual(readFiles(fixture.worldDir("survival")), before);
    assert.deepEqual(
      readdirSync(fixture.worldDir("survival")).filter((name) => name.startsWith(".svc-")),
      [],
    );
    return result;
  }
  async function errorOf({ status, body }: { status: number; body: Record<string, unknown> }) {
    assert.equal(status, 202, JSON.stringify(body));
    const { id } = body["op"] as Op;
    const find = async () =>
      ((await fixture.ask(`${base}/files/ops`)).body["ops"] as Op[]).find((op) => op.id === id);
    await until(async () => (await find())?.state !== "running", 20_000);
    return (await find())?.error?.code;
  }
  const jobsOf = async (kind: string) =>
    ((await fixture.ask(`${base}/jobs`)).body["jobs"] as Job[]).filter((job) => job.kind === kind);
  /** The newest one that has ended, when there are more than `known`. */
  async function lastJob(kind: string, known = 0): Promise<Job | undefined> {
    const isEnded = async () => {
      const jobs = await jobsOf(kind);
      return jobs.length > known && jobs[0]?.state !== "running";
    };
    await until(isEnded, 20_000);
    return (await jobsOf(kind))[0];
  }
  const large = randomBytes(9_000_000);

  test("rejects an upload in one request, of a new file and over an existing one", async () => {
    for (const path of ["mods/new.jar", "mods/a.jar&overwrite=true"]) {
      const place = `${base}/files/upload?path=${path}`;
      const received = await unchanged(() => fixture.refusal(place, { method: "PUT", bytes: large }));
      assert.equal(received, "507 volume_full");
    }
  });

  test("fails the operation of an upload in parts, which may be committed again when there is room", async () => {
    const size = large.length;
    const begun = await fixture.ask(`${base}/files/uploads?path=mods/new.jar`, {
      method: "POST",
      json: { size },
    });
    const place = `${base}/files/uploads/${begun.body["id"]}`;
    const headers = { "content-digest": contentDigest(large) };
    assert.equal(
      (await fixture.ask(`${place}?offset=0`, { method: "PUT", bytes: large, headers })).status,
      200,
    );
    const commit = () => fixture.ask(`${place}/commit`, { method: "POST", json: {} });
    assert.equal(await unchanged(async () => errorOf(await commit())), "volume_full");
    execFileSync("mount", ["-o", "remount,size=24m", fixture.worldDir("survival")]);
    assert.equal(await errorOf(await commit()), undefined);
    rmSync(inWorld("mods/new.jar"));
    execFileSync("mount", ["-o", "remount,size=8m", fixture.worldDir("survival")]);
  });

  test("fails an extraction", async () => {
    writeFileSync(inWorld("pack.zip"), makeZip([{ name: "big.bin", content: randomBytes(5_000_000) }]));
    const unzip = () => fixture.ask(`${base}/files/unzip?path=pack.zip`, { method: "POST", json: {} });
    assert.equal(await unchanged(async () => errorOf(await unzip())), "volume_full");
    rmSync(inWorld("pack.zip"));
  });

  test("allows a restore with few changes, and fails a restore and a backup that do not fit", async () => {
    writeFileSync(inWorld("r.0.0.mca"), randomBytes(5_000_000));
    assert.equal((await fixture.ask(`${base}/backup`, { method: "POST" })).status, 202);
    assert.equal((await lastJob("backup"))?.state, "succeeded");
    const { body } = await fixture.ask("/api/v1/backups?server=survival");
    const [{ id }] = body["backups"] as [{ id: string }];
    const restore = async (json: object) => {
      const known = (await jobsOf("restore")).length;
      const { status, body } = await fixture.ask(`${base}/restore-backup`, { method: "POST", json });
      assert.equal(status, 202, JSON.stringify(body));
      return await lastJob("restore", known);
    };
    const saved = readFiles(fixture.worldDir("survival"));
    writeFileSync(inWorld("level.dat"), "played on");
    const taken = await restore({ backup_id: id, safety_snapshot: false });
    assert.equal(taken?.state, "succeeded", taken?.message);
    assert.deepEqual(readFiles(fixture.worldDir("survival")), saved);
    writeFileSync(inWorld("r.0.0.mca"), randomBytes(5_000_000));
    const restored = await unchanged(() => restore({ backup_id: id }));
    assert.equal(restored?.state, "failed");
    assert.match(restored?.message ?? "", /no space .* The world is unchanged/);
    execFileSync(
      "dd",
      ["if=/dev/zero", `of=${join(fixture.base.archiveDir, "filler")}`, "bs=1M", "count=13"],
      {
        stdio: "ignore",
      },
    );
    const again = await unchanged(() => fixture.ask(`${base}/backup`, { method: "POST" }));
    assert.equal(again.status, 202);
    await until(async () => (await lastJob("backup"))?.state === "failed", 20_000);
    assert.match((await lastJob("backup"))?.message ?? "", /no space for this backup/);
    assert.equal(readdirSync(fixture.base.archiveDir).filter((name) => name.includes("partial")).length, 0);
  });
});
