import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { linkSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { resources } from "@svc/kube";
import { faultOf, tokenOf as tokenCaller, until } from "@svc/mesh/testing";
import { exports } from "@svc/proto";
import { isJobFinished } from "@svc/world-lock";
import { type FaceFixture, openFaceFixture } from "../testing/face-fixture.ts";
import type { Replica } from "../testing/fixture.ts";
import { namespace } from "../testing/worlds.ts";
import { idOf, tokenOf } from "./secret.ts";

const server = "/api/v1/servers/survival";

describe("downloads, over both faces, with two replicas and the shipped agent", () => {
  let fixture: FaceFixture;
  const replicas: Replica[] = [];
  const inWorld = (path: string) => join(fixture.worldDir("survival"), path);
  const quick = [
    "storage.export_hourly=100",
    "storage.file_op_patience=2s",
    "storage.export_sweep=200ms",
    "storage.export_kept=5s",
  ];
  before(async () => {
    fixture = await openFaceFixture();
    for (let n = 0; n < 2; n++) replicas.push(await fixture.start(quick));
    await fixture.base.addServer("survival", "usr-1", {
      "level.dat": "one",
      "server.properties": "rcon.password=hush\nmotd=hi\n",
      "config/paper-global.yml": "secret: velocity",
      "world/r.0.0.mca": "chunks",
    });
  });
  after(() => fixture?.close());

  const start = async (path: string) => {
    const { status, body } = await fixture.ask(`${server}/${path}`, { method: "POST" });
    assert.equal(status, 202, JSON.stringify(body));
    return body as exports.ExportTicket;
  };
  const stateOf = async (ticket: string) => {
    const { status, body } = await fixture.ask(`/api/v1/exports/${ticket}`);
    return status === 200 ? String(body["state"]) : `${status} ${(body["error"] as { code: string }).code}`;
  };
  const download = (ticket: string) => fixture.ask(`/api/v1/exports/${ticket}/download`);
  const ready = async (path: string) => {
    const started = await start(path);
    await until(async () => (await stateOf(started.ticket)) !== "pending", 20_000);
    assert.equal(await stateOf(started.ticket), "ready");
    return started;
  };
  /** Until no Job works on the world and no slot of the limits is taken. */
  const atRest = () =>
    until(async () => {
      const { items } = await fixture.base.kube.list(resources.jobs, { namespace });
      return items.every(isJobFinished);
    }, 20_000);

  test("a world is downloaded once, as tar.gz without its secrets", async () => {
    linkSync(inWorld("config/paper-global.yml"), inWorld("innocent.yml"));
    const { ticket, filename, state } = await start("world/export");
    assert.equal(state, "pending");
    assert.match(filename, /^survival-world-\d{8}-\d{6}\.tar\.gz$/);
    assert.equal(await fixture.refusal(`/api/v1/exports/${ticket}/download`), "409 export_not_ready");
    assert.equal(
      await fixture.refusal(`${server}/file?path=level.dat`, { method: "DELETE" }),
      "409 maintenance_in_progress",
    );
    await until(async () => (await stateOf(ticket)) === "ready", 20_000);
    const { status, bytes, headers } = await download(ticket);
    assert.equal(status, 200);
    assert.equal(headers.get("content-type"), "application/gzip");
    assert.equal(headers.get("content-disposition"), `attachment; filename="${filename}"`);
    assert.equal(headers.get("content-length"), null);
    const tar = gunzipSync(bytes).toString("latin1");
    assert.match(tar, /level\.dat[\s\S]*chunks/);
    assert.doesNotMatch(tar, /hush|velocity/);
    assert.equal(await fixture.refusal(`/api/v1/exports/${ticket}/download`), "410 export_expired");
    assert.equal(await stateOf(ticket), "410 export_expired");
    await until(() => fixture.base.audits.some(({ action }) => action === "world.export"));
    await atRest();
  });

  test("a file keeps its name and length, a folder becomes a zip, and a secret file is rejected", async () => {
    const one = await ready("files/download?path=level.dat");
    assert.equal(one.filename, "level.dat");
    const file = await download(one.ticket);
    assert.deepEqual(
      [file.headers.get("content-length"), file.headers.get("content-type"), file.bytes.toString()],
      ["3", "application/octet-stream", "one"],
    );
    await atRest();
    const two = await ready("files/download?path=world&dir=true");
    assert.equal(two.filename, "world.zip");
    const folder = await download(two.ticket);
    assert.deepEqual(
      [folder.headers.get("content-type"), folder.bytes.subarray(0, 2).toString()],
      ["application/zip", "PK"],
    );
    await atRest();
    const secret = await start("files/download?path=config/paper-global.yml");
    await until(async () => (await stateOf(secret.ticket)) === "failed", 20_000);
    const { body } = await fixture.ask(`/api/v1/exports/${secret.ticket}`);
    assert.match(String(body["message"]), /\w/);
    assert.equal(await fixture.refusal(`/api/v1/exports/${secret.ticket}/download`), "410 export_expired");
    assert.equal(await fixture.refusal(`${server}/files/download?path=`, { method: "POST" }), "400 bad_path");
  });

  test("a ticket is 404 for every other user, and HEAD does not consume it", async () => {
    await atRest();
    const { ticket } = await ready("files/download?path=level.dat");
    const place = `/api/v1/exports/${ticket}`;
    assert.equal(await fixture.refusal(place, { as: "usr-2" }), "404 not_found");
    assert.equal(await fixture.refusal(`${place}/download`, { as: "usr-2" }), "404 not_found");
    for (const other of ["0".repeat(64), "x"]) {
      assert.equal(await fixture.refusal(`/api/v1/exports/${other}`), "404 not_found");
    }
    assert.equal((await fixture.ask(`${place}/download`, { method: "HEAD" })).status, 405);
    const all = await Promise.all([download(ticket), download(ticket), download(ticket)]);
    assert.deepEqual(all.map(({ status }) => status).sort(), [200, 410, 410]);
    await atRest();
  });

  test("a second world download of one user has to wait, and so has a third on the platform", async () => {
    await fixture.base.addServer("second", "usr-2");
    await fixture.base.addServer("third", "usr-3");
    await fixture.base.addServer("fourth", "usr-1");
    const { ticket } = await ready("world/export");
    const post = (name: string, as: string) =>
      fixture.ask(`/api/v1/servers/${name}/world/export`, { method: "POST", as });
    const own = await post("fourth", "usr-1");
    assert.deepEqual([own.status, own.headers.get("retry-after")], [429, "90"]);
    const other = await post("second", "usr-2");
    assert.equal(other.status, 202);
    const third = await post("third", "usr-3");
    assert.deepEqual([third.status, third.headers.get("retry-after")], [429, "60"]);
    assert.equal((await download(ticket)).status, 200);
    const place = `/api/v1/exports/${other.body["ticket"]}`;
    await until(async () => (await fixture.ask(`${place}/download`, { as: "usr-2" })).status === 200, 20_000);
    await atRest();
    const again = await ready("world/export");
    assert.equal((await download(again.ticket)).status, 200);
    await atRest();
  });

  test("a wrong token or id is 404; an invalid Content-Length is 400 and does not consume the ticket", async () => {
    const { ticket } = await start("files/download?path=level.dat");
    const put = async (id: string, token: string, headers: Record<string, string> = {}) => {
      const url = `${fixture.internalUrl}/api/v1/internal/exports/${id}`;
      const all = { authorization: `Bearer ${token}`, ...headers };
      return (await fetch(url, { method: "PUT", headers: all, body: "x" })).status;
    };
    const [id, token] = [idOf(ticket), tokenOf(ticket)];
    assert.equal(await put(id, ticket), 404);
    assert.equal(await put("0".repeat(16), token), 404);
    assert.equal(await put(id, token, { "x-svc-export-length": "many" }), 400);
    await until(async () => (await stateOf(ticket)) === "ready", 20_000);
    assert.equal(await put(id, token), 404);
    assert.equal((await download(ticket)).bytes.toString(), "one");
    await atRest();
  });

  describe("of backups", () => {
    let backupId = "";
    let archive = "";
    before(async () => {
      const { status, body } = await fixture.ask(`${server}/backup`, { method: "POST" });
      assert.equal(status, 202, JSON.stringify(body));
      const list = async () => (await fixture.ask("/api/v1/backups")).body["backups"] as { id: string }[];
      await until(async () => (await list()).length === 1, 30_000);
      backupId = (await list())[0]?.id ?? "";
      archive = readdirSync(fixture.base.archiveDir).find((name) => name.endsWith(".tar.zst")) ?? "";
      await atRest();
    });

    test("a backup is downloaded byte for byte with its length, and its world stays unlocked", async () => {
      const { ticket, filename } = await ready(`backups/${backupId}/export`);
      assert.equal(filename, `survival-backup-${backupId}.tar.zst`);
      const write = { method: "POST" };
      assert.equal((await fixture.ask(`${server}/files/mkdir?path=meanwhile`, write)).status, 200);
      const stored = readFileSync(join(fixture.base.archiveDir, archive));
      const { bytes, headers } = await download(ticket);
      assert.equal(headers.get("content-length"), String(stored.length));
      assert.ok(bytes.equals(stored));
      await atRest();
    });
    test("a backup of another server is 403, an unknown one 404", async () => {
      const wrong = `/api/v1/servers/fourth/backups/${backupId}/export`;
      assert.equal(await fixture.refusal(wrong, { method: "POST" }), "403 forbidden");
      assert.equal(
        await fixture.refusal(`${server}/backups/bk-none/export`, { method: "POST" }),
        "404 no_backup",
      );
    });
    test("a download of a changed archive is cut short, and the backup is marked corrupt", async () => {
      const place = join(fixture.base.archiveDir, archive);
      const bytes = readFileSync(place);
      const middle = bytes.length >> 1;
      bytes[middle] = (bytes[middle] ?? 0) ^ 0xff;
      writeFileSync(place, bytes);
      const { ticket } = await ready(`backups/${backupId}/export`);
      const outcome = await download(ticket).then(
        (answer) => (answer.status === 200 ? answer.bytes : Buffer.alloc(0)),
        () => Buffer.alloc(0),
      );
      const sha = (content: Buffer) => createHash("sha256").update(content).digest("hex");
      assert.notEqual(sha(outcome), sha(bytes));
      const corrupt = async () =>
        ((await fixture.ask("/api/v1/backups")).body["backups"] as { corrupt?: boolean }[])[0]?.corrupt;
      await until(async () => (await corrupt()) === true);
      const again = `${server}/backups/${backupId}/export`;
      assert.equal(await fixture.refusal(again, { method: "POST" }), "409 backup_corrupt");
      await atRest();
    });
  });

  test("a ticket is worth nothing with a token that lacks the right to its content or its server", async () => {
    const { ticket } = await ready("files/download?path=level.dat");
    const ask = (grant: Parameters<typeof tokenCaller>[1]) =>
      faultOf(fixture.base.external.call(exports.readStatus, { ticket }, tokenCaller("usr-1", grant)));
    assert.equal(await ask({ rights: ["backups.download"] }), "forbidden");
    assert.equal(await ask({ rights: ["files.read"], servers: ["fourth"] }), "forbidden");
    assert.equal(await ask({ rights: ["files.read"], servers: ["survival"] }), "none");
    assert.equal((await download(ticket)).status, 200);
    await atRest();
    const world = await ready("world/export");
    const token = tokenCaller("usr-1", { rights: ["files.read"] });
    const taken = fixture.base.external.forward(exports.download, { ticket: world.ticket }, token);
    assert.equal(await faultOf(taken), "forbidden");
    assert.equal((await download(world.ticket)).status, 200);
    await atRest();
  });

  describe("when a process dies", () => {
    test("a download whose Job is killed before it connects fails with a reason", async () => {
      const { ticket } = await start("files/download?path=level.dat");
      const { items } = await fixture.base.kube.list(resources.jobs, { namespace });
      const job = items.find((one) => !isJobFinished(one));
      assert.ok(job);
      await fixture.base.kube.remove(
        resources.jobs,
        { name: job.metadata.name, namespace },
        { propagationPolicy: "Background" },
      );
      await until(async () => /^failed|410/.test(await stateOf(ticket)), 20_000);
      await atRest();
    });
    test("when the replicas die with a parked body, the ticket is spent and the world is unlocked", async () => {
      const { ticket } = await ready("world/export");
      for (const replica of replicas.splice(0)) await replica.stop();
      replicas.push(await fixture.start([...quick, "storage.export_wait=1s"]));
      await until(async () => (await stateOf(ticket)).startsWith("410"), 30_000);
      await atRest();
      assert.equal((await fixture.ask(`${server}/files/mkdir?path=free`, { method: "POST" })).status, 200);
    });
    test("a download that nobody fetches expires: its Job ends and its ticket is removed", async () => {
      // It may expire before the test sees it ready; had its Job not connected, it would be pending for minutes.
      const { ticket } = await start("world/export");
      await until(async () => (await stateOf(ticket)) === "410 export_expired", 20_000);
      await atRest();
      await until(async () => (await stateOf(ticket)) === "404 not_found", 20_000);
    });
  });
});
