// The history of text files, over the external face and with the shipped agent.

import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import { until } from "@svc/mesh/testing";
import type { AccessLimits, MemberRight } from "@svc/proto";
import { fileAudits } from "../testing/audit-assertions.ts";
import { type FaceFixture, openFaceFixture } from "../testing/face-fixture.ts";
import { eraseVersions, keepVersion } from "./version-store.ts";

type Version = { id: string; sha256: string; size: number; by: string };
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const base = "/api/v1/servers/survival";

describe("the history of a text file", () => {
  let fixture: FaceFixture;
  const inWorld = (path: string) => join(fixture.worldDir("survival"), path);
  before(async () => {
    fixture = await openFaceFixture();
    await fixture.start(["storage.file_op_settle=50ms"]);
    await fixture.base.addServer("survival", "usr-1", {
      "a.yml": "one",
      "b.bin": "\0",
      "plugins/c.yml": "c",
    });
  });
  after(() => fixture?.close());
  afterEach(() => {
    fixture.base.servers.owners.set("survival", "usr-1");
    fixture.base.servers.overrides.delete("survival");
  });
  const address = (path: string, id?: string) =>
    `${base}/file/versions${id === undefined ? "" : `/${id}`}?path=${encodeURIComponent(path)}`;
  const put = async (path: string, text: string, more: object = {}) => {
    const json = { content: Buffer.from(text).toString("base64"), content_sha256: sha256(text), ...more };
    const place = `${base}/file?path=${encodeURIComponent(path)}`;
    return (await fixture.ask(place, { method: "PUT", json })).status;
  };
  const settled = () => fileAudits(fixture.base, "survival");
  const list = async (path: string) => {
    await settled();
    const { status, body } = await fixture.ask(address(path));
    assert.equal(status, 200, JSON.stringify(body));
    return body["versions"] as Version[];
  };
  const contentOf = async (path: string, id: string) => {
    const { body } = await fixture.ask(address(path, id));
    return Buffer.from(body["content"] as string, "base64").toString();
  };
  const share = (given: readonly MemberRight[], limits?: AccessLimits) => {
    fixture.base.servers.owners.set("survival", "usr-owner");
    const member = { user_id: "usr-1", rights: [...given], ...(limits && { limits }) };
    fixture.base.servers.overrides.set("survival", { members: [member] });
  };

  test("each write keeps what was there before, once, and says who and when", async () => {
    assert.deepEqual(await list("a.yml"), []);
    for (const text of ["two", "two", "three"]) assert.equal(await put("a.yml", text), 200);
    const versions = await list("a.yml");
    assert.deepEqual(
      versions.map(({ sha256: digest, size, by }) => [digest, size, by]),
      [
        [sha256("two"), 3, "you"],
        [sha256("one"), 3, "you"],
      ],
    );
    assert.equal(await contentOf("a.yml", versions[1]?.id ?? ""), "one");
  });

  test("an undo is a write over the file as it is, and can be undone", async () => {
    const [{ id = "" } = {}] = await list("a.yml");
    const text = await contentOf("a.yml", id);
    assert.equal(await put("a.yml", text, { expect_sha256: sha256("other") }), 409);
    assert.equal(await put("a.yml", text, { expect_sha256: sha256("three") }), 200);
    assert.equal(readFileSync(inWorld("a.yml"), "utf8"), "two");
    assert.equal((await list("a.yml"))[0]?.sha256, sha256("three"));
  });

  test("an upload keeps it as well; what is new, binary, large or not written keeps nothing", async () => {
    const upload = { method: "PUT", bytes: Buffer.from("sent") };
    assert.equal(
      (await fixture.ask(`${base}/files/upload?path=plugins/c.yml&overwrite=true`, upload)).status,
      200,
    );
    assert.deepEqual(
      (await list("plugins/c.yml")).map((version) => version.sha256),
      [sha256("c")],
    );
    writeFileSync(inWorld("large.yml"), "x".repeat(256 * 1_024 + 1));
    writeFileSync(inWorld("latin.yml"), Buffer.from([0xe4]));
    for (const path of ["new.yml", "b.bin", "large.yml", "latin.yml"]) {
      assert.equal(await put(path, "now"), 200, path);
      assert.deepEqual(await list(path), [], path);
    }
    assert.equal(await put("a.yml", "x", { expect_sha256: sha256("wrong") }), 409);
    assert.equal((await list("a.yml"))[0]?.sha256, sha256("three"));
  });

  test("it is read while the server is awake", async () => {
    fixture.base.servers.overrides.set("survival", { phase: "Running", stopped: false });
    assert.ok((await list("a.yml")).length > 0);
  });

  const refused: [fact: string, path: string, id: string | undefined, answer: string][] = [
    ["of the root", "", undefined, "400 bad_path"],
    ["outside", "../a.yml", undefined, "400 bad_path"],
    ["of no version", "a.yml", "0".repeat(16), "404 not_found"],
    ["of what is no version", "a.yml", "1", "400 bad_request"],
  ];
  for (const [fact, path, id, answer] of refused)
    test(`${fact}: ${answer}`, async () => assert.equal(await fixture.refusal(address(path, id)), answer));

  test("a member reads within its paths, and no version under another path", async () => {
    const [{ id = "" } = {}] = await list("a.yml");
    share(["files.read"], { read_paths: ["plugins"] });
    assert.equal((await list("plugins/c.yml")).length, 1);
    assert.equal((await list("plugins/c.yml"))[0]?.by, "you");
    assert.equal(await fixture.refusal(address("a.yml")), "403 path_not_shared");
    assert.equal(await fixture.refusal(address("a.yml", id)), "403 path_not_shared");
    assert.equal(await fixture.refusal(address("plugins/c.yml", id)), "404 not_found");
    share(["files.write"]);
    assert.equal(await fixture.refusal(address("plugins/c.yml")), "403 forbidden");
    assert.equal(await fixture.refusal(address("a.yml"), { as: "usr-2" }), "403 forbidden");
  });

  test("the next owner of a server does not see what a former one had", async () => {
    const [{ id = "" } = {}] = await list("a.yml");
    const claimed_at = new Date().toISOString();
    fixture.base.servers.overrides.set("survival", { owner_id: "usr-2", claimed_at });
    const { body } = await fixture.ask(address("a.yml"), { as: "usr-2" });
    assert.deepEqual(body["versions"], []);
    assert.equal(await fixture.refusal(address("a.yml", id), { as: "usr-2" }), "404 not_found");
  });

  test("the newest are kept within the limits of a file and of a server, and all is erased with it", async () => {
    const { db } = fixture.base;
    const keep = (path: string, content: Buffer, at: number) =>
      db.transaction().execute((trx) =>
        keepVersion(trx, {
          ...{ server_name: "other", path, content },
          ...{ replaced_by: "ada", replaced_at: new Date(at) },
        }),
      );
    const kept = async () =>
      (await fixture.base.database.admin(
        "select path, size_bytes from storage.file_versions where server_name = 'other' order by replaced_at",
      )) as { path: string; size_bytes: number }[];
    for (let at = 1; at <= 22; at += 1) await keep("a.yml", Buffer.alloc(at), at);
    assert.deepEqual(
      (await kept()).map(({ size_bytes }) => size_bytes),
      Array.from({ length: 20 }, (_, index) => index + 3),
    );
    for (let at = 0; at < 65; at += 1) await keep(`f-${at}`, Buffer.alloc(256 * 1_024), 100 + at);
    const rows = await kept();
    assert.ok(rows.reduce((sum, { size_bytes }) => sum + size_bytes + 4_096, 0) <= 16 << 20);
    assert.deepEqual([rows.length, rows.at(-1)?.path, rows[0]?.path], [63, "f-64", "f-2"]);
    const longest = randomBytes(2_048).toString("hex");
    await keep(longest, Buffer.from("deep"), 1_000);
    assert.equal((await kept()).at(-1)?.path, longest);
    await eraseVersions(db, "other");
    assert.deepEqual(await kept(), []);
    assert.ok((await list("a.yml")).length > 0);
  });

  test("a change that two replicas see end keeps one version", async () => {
    const before = (await list("a.yml")).length;
    const other = await fixture.start(["storage.file_op_settle=10ms"]);
    assert.equal(await put("a.yml", "twice"), 200);
    await until(async () => (await list("a.yml")).length > before);
    assert.equal((await list("a.yml")).length, before + 1);
    await other.stop();
  });
});
