// Fetching a file from an address into a stopped world, over the external face, from a server that lies, redirects and hangs.

import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import { until } from "@svc/mesh/testing";
import type { AccessLimits, files, MemberRight } from "@svc/proto";
import { fileAudits } from "../testing/audit-assertions.ts";
import { type FaceFixture, openFaceFixture } from "../testing/face-fixture.ts";
import { type Answerer, openSourceServer, type SourceServer } from "../testing/source-server.ts";
import { readFiles } from "../testing/worlds.ts";

type Op = files.FileOp;
const content = randomBytes(300_000);
const sha256 = createHash("sha256").update(content).digest("hex");
const base = "/api/v1/servers/survival/files";

describe("a fetch from an address", () => {
  let fixture: FaceFixture;
  let source: SourceServer;
  let other: SourceServer;
  before(async () => {
    fixture = await openFaceFixture();
    [source, other] = await Promise.all([openSourceServer(), openSourceServer()]);
    await fixture.start([
      `storage.fetch_from=["${source.origin}","repo.example.net","localhost"]`,
      "storage.fetch_bytes=400Ki",
      "storage.transfer_stall=400ms",
      "storage.file_op_settle=50ms",
    ]);
    await fixture.base.addServer("survival", "usr-1", { "level.dat": "one", "plugins/a.jar": "old" });
    source.put("/a.jar", content);
    other.put("/a.jar", content);
  });
  after(async () => {
    await Promise.all([source?.close(), other?.close()]);
    await fixture?.close();
  });
  afterEach(() => {
    fixture.base.servers.owners.set("survival", "usr-1");
    fixture.base.servers.overrides.delete("survival");
  });
  const address = (path: string) => `${base}/fetch?path=${encodeURIComponent(path)}`;
  const post = (json: object) => ({ method: "POST", json });
  const world = () => fixture.worldDir("survival");
  const end = async (id: string) => {
    const find = async () => {
      const { body } = await fixture.ask(`${base}/ops`);
      return (body["ops"] as Op[]).find((op) => op.id === id);
    };
    await until(async () => (await find())?.state !== "running", 20_000);
    return (await find()) as Op;
  };
  const fetchTo = async (path: string, json: object) => {
    const { status, body } = await fixture.ask(address(path), post(json));
    assert.equal(status, 202, JSON.stringify(body));
    return end((body["op"] as Op).id);
  };
  const url = (path: string) => `${source.origin}${path}`;
  /** Its audit entry, which arrives a moment after its end. */
  const auditOf = async ({ id }: Op) => {
    const find = async () =>
      (await fileAudits(fixture.base, "survival")).find(({ payload }) => payload["op"] === id);
    await until(async () => (await find()) !== undefined);
    return find();
  };
  /** Nothing of it stays on the upload volume. */
  const isStagingEmpty = () => until(() => readdirSync(fixture.stagingDir).length === 0, 20_000);

  test("puts the file there, and the audit log says from where, without what may be a secret", async () => {
    const op = await fetchTo("plugins/new.jar", { url: url("/a.jar?token=hush"), sha256 });
    assert.deepEqual(
      [op.state, op.from, op.done],
      ["succeeded", url("/a.jar"), content.length],
      JSON.stringify(op),
    );
    assert.ok(readFileSync(join(world(), "plugins/new.jar")).equals(content));
    const { action, payload, server_name } = (await auditOf(op)) ?? {};
    assert.deepEqual([action, server_name], ["file.fetch", "survival:plugins/new.jar"]);
    assert.deepEqual(payload, {
      ...{ from: url("/a.jar"), overwrite: false, sha256, op: op.id, outcome: "done" },
    });
    await isStagingEmpty();
  });

  test("replaces a file only when that is asked for", async () => {
    const op = await fetchTo("plugins/a.jar", { url: url("/a.jar") });
    assert.deepEqual([op.state, op.error?.code], ["failed", "file_exists"]);
    assert.equal(readFileSync(join(world(), "plugins/a.jar"), "utf8"), "old");
    const again = await fetchTo("plugins/a.jar", { url: url("/a.jar"), overwrite: true });
    assert.equal(again.state, "succeeded", JSON.stringify(again));
  });

  const redirect =
    (to: () => string, status = 302): Answerer =>
    (_request, response) =>
      void response.writeHead(status, { location: to() }).end();
  const withLength =
    (length: number, ...chunks: Buffer[]): Answerer =>
    (_request, response) => {
      response.writeHead(200, { "content-length": String(length) });
      for (const chunk of chunks) response.write(chunk);
      if (chunks.reduce((sum, chunk) => sum + chunk.length, 0) < length)
        setTimeout(() => response.destroy(), 50);
      else response.end();
    };

  type Case = { answer?: Answerer; sha256?: string; path?: string; code: string; says: RegExp };
  const refusals: Record<string, Case> = {
    "that is not there": { code: "download_failed", says: /answered 404/ },
    "with another digest": {
      path: "/a.jar",
      sha256: "0".repeat(64),
      code: "digest_mismatch",
      says: /its SHA-256 is/,
    },
    "that is announced as too large": {
      answer: withLength(409_601, randomBytes(10)),
      code: "too_large",
      says: /409601 bytes; at most 409600/,
    },
    "that is too large without saying so": {
      answer: (_request, response) => {
        response.writeHead(200);
        response.write(randomBytes(300_000));
        response.end(randomBytes(300_000));
      },
      code: "too_large",
      says: /more than/,
    },
    "that breaks off each time": {
      answer: withLength(1_000, randomBytes(10)),
      code: "download_failed",
      says: /Try again later/,
    },
    "that never comes": {
      answer: (_request, response) => void response.writeHead(200).write("a"),
      code: "download_failed",
      says: /sent nothing/,
    },
    "whose server never answers": { answer: () => {}, code: "download_failed", says: /sent nothing/ },
    "that redirects inside": {
      answer: redirect(() => "http://169.254.169.254/latest/meta-data"),
      code: "download_failed",
      says: /redirects elsewhere.*https/,
    },
    "that redirects to another server": {
      answer: redirect(() => `${other.origin}/a.jar`),
      code: "download_failed",
      says: /redirects elsewhere/,
    },
    "that redirects to a file": {
      answer: redirect(() => "file:///etc/passwd"),
      code: "download_failed",
      says: /redirects elsewhere/,
    },
    "that redirects in a circle": {
      answer: redirect(() => "/circle"),
      path: "/circle",
      code: "download_failed",
      says: /more than 5 times/,
    },
    "that redirects to nothing": {
      answer: (_request, response) => void response.writeHead(302).end(),
      code: "download_failed",
      says: /to no address/,
    },
  };
  for (const [
    what,
    { answer, code, says, path = `/${what.replaceAll(" ", "-")}`, ...about },
  ] of Object.entries(refusals))
    test(`a file ${what} is not kept, and the world is as it was`, async () => {
      if (answer) source.put(path, answer);
      const before = readFiles(world());
      const op = await fetchTo("plugins/never.jar", { url: url(path), ...about });
      assert.deepEqual([op.state, op.error?.code], ["failed", code], JSON.stringify(op));
      assert.match(op.error?.message ?? "", says);
      assert.deepEqual(readFiles(world()), before);
      assert.equal((await auditOf(op))?.payload["outcome"], "failed");
      await isStagingEmpty();
    });

  test("a redirect within what is allowed is followed, and a file that is there at the second try is taken", async () => {
    source.put(
      "/moved",
      redirect(() => "/a.jar", 307),
    );
    let count = 0;
    source.put("/flaky", (_request, response) => {
      count += 1;
      if (count < 2) response.writeHead(503).end();
      else response.writeHead(200, { "content-length": String(content.length) }).end(content);
    });
    for (const path of ["/moved", "/flaky"]) {
      const op = await fetchTo("moved.jar", { url: url(path), sha256, overwrite: true });
      assert.equal(op.state, "succeeded", JSON.stringify(op));
    }
  });

  const bad: [what: string, json: object, refusal: string][] = [
    ["a host that is not allowed", { url: "https://evil.example/a" }, "400 address_refused"],
    ["another port of an allowed host", { url: "https://repo.example.net:444/a" }, "400 address_refused"],
    ["http where https is meant", { url: "http://repo.example.net/a" }, "400 address_refused"],
    ["a password", { url: "https://a:b@repo.example.net/a" }, "400 address_refused"],
    ["no address", { url: "a" }, "400 address_refused"],
    ["half a digest", { url: "https://repo.example.net/a", sha256: "ab" }, "400 bad_request"],
    ["an address of another type", { url: 1 }, "400 bad_request"],
  ];
  for (const [what, json, refusal] of bad)
    test(`${what} is ${refusal}`, async () =>
      assert.equal(await fixture.refusal(address("a.jar"), post(json)), refusal));

  test("a name that leads inside is not connected to", async () => {
    const op = await fetchTo("a.jar", { url: "https://localhost/a.jar" });
    assert.deepEqual(
      [op.error?.code, op.error?.message],
      ["download_failed", "localhost leads to a private address."],
    );
  });

  test("paths are judged as those of uploads, and so are the rights of members", async () => {
    const json = { url: url("/a.jar") };
    for (const path of ["../a", "/a", ".svc-a", ""])
      assert.equal(await fixture.refusal(address(path), post(json)), "400 bad_path");
    const share = (given: readonly MemberRight[], limits?: AccessLimits) => {
      fixture.base.servers.owners.set("survival", "usr-owner");
      const member = { user_id: "usr-1", rights: [...given], ...(limits && { limits }) };
      fixture.base.servers.overrides.set("survival", { members: [member] });
    };
    share(["files.read"]);
    assert.equal(await fixture.refusal(address("a.jar"), post(json)), "403 forbidden");
    share(["files.read", "files.write"], { write_paths: ["plugins"] });
    assert.equal(await fixture.refusal(address("a.jar"), post(json)), "403 path_not_shared");
    assert.equal((await fixture.ask(address("plugins/m.jar"), post(json))).status, 202);
  });

  test("a protected file is not written", async () => {
    const op = await fetchTo("server.properties", { url: url("/a.jar"), overwrite: true });
    assert.deepEqual([op.state, op.error?.code], ["failed", "bad_path"]);
  });

  test("an account has four at once", async () => {
    source.put("/slow", (_request, response) => void response.writeHead(200).write("a"));
    const begun = await Promise.all(
      [1, 2, 3, 4, 5].map((n) => fixture.ask(address(`slow-${n}`), post({ url: url("/slow") }))),
    );
    const codes = begun.map(({ status }) => status).sort();
    assert.deepEqual(codes, [202, 202, 202, 202, 429]);
    for (const { status, body } of begun) if (status === 202) await end((body["op"] as Op).id);
    await isStagingEmpty();
  });

  test("while the server is awake it is refused", async () => {
    fixture.base.servers.overrides.set("survival", { stopped: false });
    assert.equal(await fixture.refusal(address("a.jar"), post({ url: url("/a.jar") })), "409 not_stopped");
  });

  test("without allowed hosts it is switched off and says so", async () => {
    const empty = await openFaceFixture();
    await empty.start();
    await empty.base.addServer("survival", "usr-1", {});
    assert.equal(await empty.refusal(address("a"), post({ url: url("/a.jar") })), "403 fetch_disabled");
    await empty.close();
  });
});
