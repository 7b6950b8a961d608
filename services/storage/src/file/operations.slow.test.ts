import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { resources } from "@svc/kube";
import type { Mesh } from "@svc/mesh";
import { until } from "@svc/mesh/testing";
import { files } from "@svc/proto";
import { makeZip } from "../../../../libs/world/src/testing/zip.ts";
import { type FaceFixture, openFaceFixture } from "../testing/face-fixture.ts";
import type { Replica } from "../testing/fixture.ts";
import { namespace } from "../testing/worlds.ts";
import { applyOutcome, newOp, opKey } from "./op.ts";

const base = "/api/v1/servers/survival/files";

describe("background operations, over both faces and with the shipped agent", () => {
  let fixture: FaceFixture;
  let replica: Replica;
  let storage: Mesh;
  const inWorld = (path: string) => join(fixture.worldDir("survival"), path);
  before(async () => {
    fixture = await openFaceFixture();
    replica = await fixture.start(["storage.file_op_settle=100ms"]);
    storage = await fixture.base.nats.connect("storage");
    await fixture.base.addServer("survival", "usr-1", { "level.dat": "one" });
    writeFileSync(
      inWorld("pack.zip"),
      makeZip([
        { name: "mods/", content: "" },
        { name: "mods/a.jar", content: "a" },
        { name: "mods/b.jar", content: "bb" },
      ]),
    );
    writeFileSync(inWorld("slip.zip"), makeZip([{ name: "../out.txt", content: "x" }]));
    writeFileSync(inWorld("torn.zip"), "PK no zip");
  });
  after(async () => {
    await storage?.drain(100);
    await fixture?.close();
  });

  const unzip = async (path: string, json: object = {}) => {
    const { status, body } = await fixture.ask(`${base}/unzip?path=${path}`, { method: "POST", json });
    assert.equal(status, 202, JSON.stringify(body));
    return (body["op"] as files.FileOp).id;
  };
  const list = async () => (await fixture.ask(`${base}/ops`)).body["ops"] as files.FileOp[];
  const ended = async (id: string) => {
    const find = async () => (await list()).find((op) => op.id === id);
    await until(async () => (await find())?.state !== "running", 20_000);
    const op = await find();
    assert.ok(op);
    return op;
  };

  test("a zip is extracted into the folder that contains it, and the operation counts the files it created", async () => {
    const op = await ended(await unzip("pack.zip"));
    assert.deepEqual(
      [op.op, op.path, op.state, op.files, op.bytes],
      ["unzip", "pack.zip", "succeeded", 2, 3],
    );
    assert.ok(op.finished_at !== undefined && op.finished_at >= op.started_at);
    assert.equal(readFileSync(inWorld("mods/b.jar"), "utf8"), "bb");
  });
  test("existing files are listed in the error, and replaced only on request", async () => {
    writeFileSync(inWorld("mods/a.jar"), "mine");
    const op = await ended(await unzip("pack.zip"));
    assert.equal(op.error?.code, "file_exists");
    assert.deepEqual([op.error.conflicts, op.error.conflict_count], [["mods/a.jar", "mods/b.jar"], 2]);
    assert.equal(readFileSync(inWorld("mods/a.jar"), "utf8"), "mine");
    assert.equal((await ended(await unzip("pack.zip", { overwrite: true }))).state, "succeeded");
    assert.equal(readFileSync(inWorld("mods/a.jar"), "utf8"), "a");
  });
  test("an archive that is unsafe, broken or missing fails with its own code", async () => {
    const codes = [];
    for (const path of ["slip.zip", "torn.zip", "none.zip"])
      codes.push((await ended(await unzip(path))).error?.code);
    assert.deepEqual(codes, ["archive_unsafe", "archive_invalid", "not_found"]);
    assert.equal(existsSync(join(fixture.worldDir("survival"), "..", "out.txt")), false);
    assert.deepEqual(
      readdirSync(inWorld(".")).filter((name) => name.startsWith(".svc-")),
      [],
    );
  });
  test("a zip with protected files is rejected, or extracted without them on request", async () => {
    writeFileSync(inWorld("server.properties"), "motd=mine\n");
    const pack = [
      { name: "server.properties", content: "motd=theirs" },
      { name: "mods/c.jar", content: "c" },
    ];
    writeFileSync(inWorld("protected.zip"), makeZip(pack));
    assert.equal((await ended(await unzip("protected.zip"))).error?.code, "bad_path");
    const op = await ended(await unzip("protected.zip", { skip_protected: true }));
    assert.deepEqual(
      [op.state, op.files, op.left_out, op.left_out_count],
      ["succeeded", 1, ["server.properties"], 1],
    );
    assert.equal(readFileSync(inWorld("server.properties"), "utf8"), "motd=mine\n");
    assert.equal(readFileSync(inWorld("mods/c.jar"), "utf8"), "c");
  });
  test("only a zip is extracted, and only for the server's owner", async () => {
    const about = { method: "POST", json: {} };
    assert.equal(await fixture.refusal(`${base}/unzip?path=level.dat`, about), "400 bad_path");
    assert.equal(
      await fixture.refusal(`${base}/unzip?path=pack.zip`, { ...about, as: "usr-2" }),
      "403 forbidden",
    );
    assert.equal(await fixture.refusal(`${base}/ops`, { as: "usr-2" }), "403 forbidden");
    const strict = { method: "POST", json: { overwrite: true, more: 1 } };
    assert.equal(await fixture.refusal(`${base}/unzip?path=pack.zip`, strict), "400 bad_request");
  });
  test("the list shows at most ten, the newest first", async () => {
    for (let n = 0; n < 5; n++) await ended(await unzip("torn.zip"));
    const ops = await list();
    assert.equal(ops.length, 10);
    const times = ops.map(({ started_at }) => started_at);
    assert.deepEqual(times, times.toSorted().toReversed());
  });

  test("the next owner of a server does not see the previous owner's operations", async () => {
    const { overrides } = fixture.base.servers;
    const mine = await ended(await unzip("torn.zip"));
    overrides.set("survival", { owner_id: "usr-2", claimed_at: new Date().toISOString() });
    const { status, body } = await fixture.ask(`${base}/ops`, { as: "usr-2" });
    overrides.delete("survival");
    assert.deepEqual([status, body["ops"]], [200, []]);
    assert.equal((await list())[0]?.id, mine.id);
  });

  describe("when a process dies", () => {
    const entryOf = async (age: number) => {
      const now = () => Date.now() - age;
      const op = newOp({ now }, { op: "unzip", path: "x.zip", server: "survival", started_by: "usr-1" });
      await storage.bucket(files.fileOps).create(opKey(op), op);
      return op.id;
    };
    test("an operation whose Job is killed fails", async () => {
      const id = await unzip("pack.zip", { overwrite: true });
      const name = `files-survival-${id}`;
      await fixture.base.kube.remove(
        resources.jobs,
        { name, namespace },
        { propagationPolicy: "Background" },
      );
      const op = await ended(id);
      assert.deepEqual([op.state, op.error?.code], ["failed", "job_failed"]);
    });
    test("when a replica dies before creating the Job, the operation fails", async () => {
      const stateOf = async (id: string) =>
        (await storage.bucket(files.fileOps).get(opKey({ server: "survival", id })))?.value;
      const [old, young] = [await entryOf(61_000), await entryOf(0)];
      await until(async () => (await stateOf(old))?.state === "failed");
      assert.equal((await stateOf(old))?.error?.code, "job_failed");
      assert.equal((await stateOf(young))?.state, "running");
    });
    test("when a replica dies right after its response, another one records the end of the operation", async () => {
      await until(
        async () => (await fixture.ask(`${base}/mkdir?path=gap`, { method: "POST" })).status !== 409,
      );
      const id = await unzip("pack.zip", { overwrite: true });
      await replica.stop();
      replica = await fixture.start(["storage.file_op_settle=100ms"]);
      assert.equal((await ended(id)).state, "succeeded");
    });
    test("an operation is ended once, whichever replica notices first", () => {
      const op = newOp({ now: Date.now }, { op: "unzip", path: "x.zip", server: "s", started_by: "u" });
      const done = applyOutcome(op, { kind: "done", done: { files: 2, bytes: 3 } }, new Date());
      assert.deepEqual(
        [done.state, done.files, done.bytes, done.done, done.total],
        ["succeeded", 2, 3, 3, 3],
      );
      const full = { code: "volume_full", message: "full", need: 5, avail: 0 } as const;
      const failed = applyOutcome(op, { kind: "refused", fault: full }, new Date());
      assert.deepEqual(failed.error, { code: "volume_full", message: "full", need: 5 });
      const odd = { code: "transfer_failed", message: "gone" } as const;
      assert.equal(applyOutcome(op, { kind: "refused", fault: odd }, new Date()).error?.code, "job_failed");
    });
  });
});
