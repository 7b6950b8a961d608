import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { until } from "@svc/mesh/testing";
import { memberRights } from "@svc/proto";
import { lockedServers } from "@svc/world-lock";
import { type FaceFixture, openFaceFixture } from "../testing/face-fixture.ts";
import { namespace } from "../testing/worlds.ts";

const sha256 = (bytes: string | Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const files = "/api/v1/servers/survival/files";
const file = (path: string) => `/api/v1/servers/survival/file?path=${encodeURIComponent(path)}`;
const content = (text: string) => ({
  content: Buffer.from(text).toString("base64"),
  content_sha256: sha256(text),
});

describe("files of a stopped world, over both faces and with the shipped agent", () => {
  let fixture: FaceFixture;
  const inWorld = (path: string) => join(fixture.worldDir("survival"), path);
  before(async () => {
    fixture = await openFaceFixture();
    await fixture.start();
    await fixture.base.addServer("survival", "usr-1", {
      "level.dat": "one",
      "server.properties": "rcon.password=hush\nmotd=hi\n",
      "config/paper-global.yml": "secret: x",
      "plugins/a.yml": "a",
    });
  });
  after(() => fixture?.close());

  test("a folder is listed with sizes, kinds and the free space", async () => {
    const { status, body } = await fixture.ask(files);
    assert.equal(status, 200, JSON.stringify(body));
    const names = (body["entries"] as { name: string; is_dir: boolean; size: number }[]).map(
      ({ name, is_dir, size }) => `${name}${is_dir ? "/" : ` ${size}`}`,
    );
    assert.deepEqual(names.sort(), ["config/", "level.dat 3", "plugins/", "server.properties 27"]);
    assert.equal(body["truncated"], false);
    assert.ok((body["free_bytes"] as number) > 0);
  });

  test("a file is read with both digests, and the RCON password is masked under every file name", async () => {
    const { body } = await fixture.ask(file("level.dat"));
    assert.deepEqual(body, {
      path: "level.dat",
      content: Buffer.from("one").toString("base64"),
      sha256: sha256("one"),
      content_sha256: sha256("one"),
    });
    linkSync(inWorld("server.properties"), inWorld("innocent.txt"));
    for (const name of ["server.properties", "innocent.txt"]) {
      const masked = (await fixture.ask(file(name))).body;
      const text = Buffer.from(masked["content"] as string, "base64").toString();
      assert.doesNotMatch(text, /hush/);
      assert.equal(masked["sha256"], sha256("rcon.password=hush\nmotd=hi\n"));
      assert.equal(masked["content_sha256"], sha256(text));
    }
    assert.equal(await fixture.refusal(file("config/paper-global.yml")), "400 bad_path");
  });

  test("a file of the largest size is read although it exceeds a NATS message", async () => {
    const large = randomBytes(1_048_576);
    writeFileSync(inWorld("large.bin"), large);
    const { status, body } = await fixture.ask(file("large.bin"));
    assert.equal(status, 200);
    assert.equal(body["sha256"], sha256(large));
    assert.ok(Buffer.from(body["content"] as string, "base64").equals(large));
    writeFileSync(inWorld("larger.bin"), Buffer.concat([large, Buffer.from("x")]));
    assert.equal(await fixture.refusal(file("larger.bin")), "413 too_large");
  });

  test("a file is replaced with its mode kept, and a concurrent writer gets a conflict", async () => {
    chmodSync(inWorld("level.dat"), 0o640);
    const put = (json: object, path = "level.dat") => fixture.ask(file(path), { method: "PUT", json });
    const { status, body } = await put({ ...content("two"), expect_sha256: sha256("one") });
    assert.deepEqual([status, body], [200, { path: "level.dat", status: "written", sha256: sha256("two") }]);
    assert.equal(readFileSync(inWorld("level.dat"), "utf8"), "two");
    assert.equal(statSync(inWorld("level.dat")).mode & 0o777, 0o640);
    const refused = async (json: object, path = "level.dat") => {
      const answer = await put(json, path);
      return `${answer.status} ${(answer.body["error"] as { code: string }).code}`;
    };
    assert.equal(await refused({ ...content("x"), expect_sha256: sha256("one") }), "409 file_changed");
    assert.equal(await refused({ ...content("x"), create_only: true }), "409 file_exists");
    assert.equal(await refused(content("x"), "nowhere/new.txt"), "404 not_found");
    assert.equal(readFileSync(inWorld("level.dat"), "utf8"), "two");
  });

  test("a save of the largest size succeeds; one byte more is too large", async () => {
    const text = "x".repeat(256 * 1_024);
    const put = (json: object) => fixture.ask(file("notes.txt"), { method: "PUT", json });
    assert.equal((await put(content(text))).status, 200);
    assert.equal(statSync(inWorld("notes.txt")).size, 256 * 1_024);
    assert.equal((await put(content(`${text}x`))).status, 413);
  });

  test("a folder is created, moved to a free path and deleted with its content", async () => {
    const post = (path: string, json?: object) => fixture.ask(`${files}/${path}`, { method: "POST", json });
    assert.deepEqual((await post("mkdir?path=made")).body, { path: "made", status: "created" });
    assert.equal((await post("mkdir?path=made")).status, 409);
    assert.equal((await post("mkdir?path=no/where")).status, 404);
    const moved = await post("rename?path=made", { to: "plugins/moved" });
    assert.deepEqual(moved.body, { path: "made", to: "plugins/moved", status: "renamed" });
    assert.equal((await post("rename?path=level.dat", { to: "notes.txt" })).status, 409);
    const gone = await fixture.ask(file("plugins"), { method: "DELETE" });
    assert.deepEqual(gone.body, { path: "plugins", status: "deleted" });
    assert.equal(await fixture.refusal(file("plugins"), { method: "DELETE" }), "404 not_found");
  });

  test("a listing begins at a name", async () => {
    mkdirSync(inWorld("paged"));
    for (const name of ["a", "b c", "d"]) writeFileSync(inWorld(`paged/${name}`), name);
    const { body } = await fixture.ask(`${files}?path=paged&from=${encodeURIComponent("b c")}`);
    assert.deepEqual(
      (body["entries"] as { name: string }[]).map(({ name }) => name),
      ["b c", "d"],
    );
    assert.equal(await fixture.refusal(`${files}?path=paged&from=`), "400 bad_request");
    rmSync(inWorld("paged"), { recursive: true });
  });

  test("a deletion that says what it must find deletes nothing else", async () => {
    mkdirSync(inWorld("only/inner"), { recursive: true });
    writeFileSync(inWorld("only/a.txt"), "a");
    const remove = (path: string, only: string) =>
      fixture.refusal(`${file(path)}&only=${only}`, { method: "DELETE" });
    assert.equal(await remove("only", "empty_folder"), "409 folder_not_empty");
    assert.equal(await remove("only", "file"), "400 bad_path");
    assert.equal(await remove("only/a.txt", "empty_folder"), "400 bad_path");
    assert.equal(await remove("only/a.txt", "anything"), "400 bad_request");
    assert.equal(existsSync(inWorld("only/a.txt")) && existsSync(inWorld("only/inner")), true);
    for (const [path, only] of [
      ["only/a.txt", "file"],
      ["only/inner", "empty_folder"],
      ["only", "empty_folder"],
    ] as const) {
      const gone = await fixture.ask(`${file(path)}&only=${only}`, { method: "DELETE" });
      assert.deepEqual(gone.body, { path, status: "deleted" });
    }
    assert.equal(existsSync(inWorld("only")), false);
    const audited = () => fixture.base.audits.filter(({ payload }) => payload["only"] !== undefined);
    await until(() => audited().length >= 6);
    assert.deepEqual(
      audited().map(({ payload }) => payload["outcome"]),
      ["failed", "failed", "failed", "done", "done", "done"],
    );
  });

  test("a path outside the world or to a protected file is rejected", async () => {
    symlinkSync("/etc", inWorld("out"));
    for (const path of ["../secret", "/etc/passwd", "out/passwd", "a\\b", ".svc-x", "C:/x"]) {
      assert.equal(await fixture.refusal(file(path)), "400 bad_path", path);
    }
    assert.equal(await fixture.refusal(file(""), { method: "DELETE" }), "400 bad_path");
    for (const path of ["server.properties", "config", "config/paper-global.yml"]) {
      const rename = `${files}/rename?path=${encodeURIComponent(path)}`;
      assert.equal(
        await fixture.refusal(rename, { method: "POST", json: { to: "x" } }),
        "400 bad_path",
        path,
      );
    }
  });

  test("another owner, an unknown name, a running server and a lock each have their own code", async () => {
    assert.equal(await fixture.refusal(files, { as: "usr-2" }), "403 forbidden");
    assert.equal(await fixture.refusal("/api/v1/servers/NO/files"), "400 bad_name");
    assert.equal(await fixture.refusal("/api/v1/servers/nobody/files"), "404 not_found");
    const target = { name: "survival", namespace };
    const lock = async (value: string | null) => {
      const merge = { metadata: { annotations: { "svc.internal/maintenance": value } } };
      await fixture.base.kube.patch(lockedServers, target, { merge });
    };
    await lock(`backup@${new Date().toISOString()}`);
    assert.equal((await fixture.ask(files)).status, 200);
    assert.equal(
      await fixture.refusal(file("level.dat"), { method: "DELETE" }),
      "409 maintenance_in_progress",
    );
    await lock(null);
    const phase = async (value: string) =>
      fixture.base.kube.patch(lockedServers, target, {
        merge: { status: { phase: value } },
        subresource: "status",
      });
    await phase("Running");
    assert.equal(await fixture.refusal(files), "409 not_stopped");
    await phase("Stopped");
  });

  test("what changed since the last good start is set aside and put back", async () => {
    const aside = "/api/v1/servers/survival/set-aside";
    const { lastStarts, overrides } = fixture.base.servers;
    const post = (path: string) => fixture.ask(path, { method: "POST" });
    const refused = (path: string, as?: string) =>
      fixture.refusal(path, { method: "POST", ...(as && { as }) });
    assert.deepEqual((await fixture.ask(aside)).body, { changed: [], truncated: false, sets: [] });
    assert.equal(await refused(aside), "409 no_good_start");
    for (const path of [aside, `${aside}/20260101T000000Z/put-back`])
      assert.equal(await refused(path, "usr-2"), "403 forbidden");
    mkdirSync(inWorld("plugins"));
    await sleep(20);
    const from = new Date().toISOString();
    lastStarts.set("survival", { ready_at: from, rests: [{ from }] });
    assert.equal(await refused(aside), "409 nothing_changed");
    await sleep(20);
    writeFileSync(inWorld("plugins/New.jar"), "new");
    const seen = (await fixture.ask(aside)).body as { since: string; changed: { path: string }[] };
    assert.deepEqual([seen.since, seen.changed.map(({ path }) => path)], [from, ["plugins/New.jar"]]);
    const made = await post(aside);
    assert.equal(made.status, 200, JSON.stringify(made.body));
    const { id } = made.body as { id: string };
    assert.equal(existsSync(inWorld("plugins/New.jar")), false);
    assert.deepEqual((await fixture.ask(aside)).body["sets"], [made.body]);
    assert.equal(await refused(`${aside}/20260101T000000Z/put-back`), "404 not_found");
    assert.equal(await refused(`${aside}/..%2f..%2fplugins/put-back`), "400 bad_request");
    writeFileSync(inWorld("plugins/New.jar"), "another");
    assert.equal(await refused(`${aside}/${id}/put-back`), "409 file_exists");
    rmSync(inWorld("plugins/New.jar"));
    assert.deepEqual((await post(`${aside}/${id}/put-back`)).body, made.body);
    assert.equal(readFileSync(inWorld("plugins/New.jar"), "utf8"), "new");
    // A member needs all that a set may have, and the right to start the server.
    const member = { user_id: "usr-2", rights: [...memberRights] };
    const share = (more: object) => overrides.set("survival", { members: [{ ...member, ...more }] });
    share({ limits: { read_paths: ["plugins"], write_paths: ["plugins"] } });
    assert.equal(await fixture.refusal(aside, { as: "usr-2" }), "403 path_not_shared");
    assert.equal(await refused(aside, "usr-2"), "403 path_not_shared");
    share({ rights: ["see", "files.read", "files.write"] });
    assert.equal((await fixture.ask(aside, { as: "usr-2" })).status, 200);
    assert.equal(await refused(aside, "usr-2"), "403 forbidden");
    // Names are for those who may read the files.
    const ask = (path: string) => fixture.ask(path, { method: "POST", as: "usr-2" });
    share({ rights: ["see", "power", "files.write"] });
    const hidden = await ask(aside);
    assert.deepEqual([hidden.status, hidden.body["files"]], [200, []]);
    assert.equal(existsSync(inWorld("plugins/New.jar")), false);
    const again = `${aside}/${(hidden.body as { id: string }).id}/put-back`;
    writeFileSync(inWorld("plugins/New.jar"), "in the way");
    assert.doesNotMatch(JSON.stringify((await ask(again)).body), /New\.jar/);
    rmSync(inWorld("plugins/New.jar"));
    assert.deepEqual((await ask(again)).body["files"], []);
    assert.equal(readFileSync(inWorld("plugins/New.jar"), "utf8"), "new");
    share({ limits: { read_paths: [".svc"] } });
    assert.equal(await refused(aside, "usr-2"), "403 path_not_shared");
    overrides.delete("survival");
    fixture.base.servers.isDown = true;
    assert.equal(await refused(aside), "503 unavailable");
    fixture.base.servers.isDown = false;
    const audited = () =>
      fixture.base.audits.filter(({ action }) => /^file\.(set_aside|put_back)$/.test(action));
    await until(() => audited().length >= 8);
    assert.deepEqual(
      audited()
        .map(({ action, payload }) => `${action} ${payload["outcome"]}`)
        .sort(),
      [
        ...Array(2).fill("file.put_back done"),
        ...Array(3).fill("file.put_back failed"),
        ...Array(2).fill("file.set_aside done"),
        "file.set_aside failed",
      ],
    );
  });

  test("every change is audited once, with server and file", async () => {
    const seen = () =>
      fixture.base.audits
        .filter(({ action, payload }) => action.startsWith("file.") && payload["outcome"] === "done")
        .map(({ action, server_name }) => `${action} ${server_name}`);
    await until(() => seen().length >= 5);
    assert.deepEqual(seen().slice(0, 5), [
      "file.write survival:level.dat",
      "file.write survival:notes.txt",
      "file.mkdir survival:made",
      "file.rename survival:made",
      "file.delete survival:plugins",
    ]);
  });
});
