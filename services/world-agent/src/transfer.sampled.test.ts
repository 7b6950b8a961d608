import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, test } from "node:test";
import { isWhole } from "@svc/config/testing";
import type { Task } from "@svc/proto/world-task";
import { isWorldFault, sendStream } from "@svc/world";
import { makeZip } from "../../../libs/world/src/testing.ts";
import { agent, done, fault } from "./testing/agent.ts";
import { readBody, startFace } from "./testing/face.ts";

let base: string;
const at = (...names: string[]) => join(base, ...names);
const digestOf = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
const trailerOf = (bytes: Buffer) => `sha-256=:${createHash("sha256").update(bytes).digest("base64")}:`;
const content = randomBytes(3 << 20);
const to = { kind: "archive" as const, name: "alpha-1.tar.zst" };
const token = "t".repeat(64);

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "svc-transfer-"));
  await mkdir(at("store"));
  await mkdir(at("world", "plugins"), { recursive: true });
  await writeFile(at("world", "plugins", "large.bin"), content);
  await writeFile(at("world", "server.properties"), "rcon.password=hush\n");
});
afterEach(() => rm(base, { recursive: true }));

describe("an export", () => {
  type Taken = { headers: IncomingMessage["headers"]; trailer: string | undefined; body: Buffer };

  async function take(
    what: (Task & { mode: "export" })["what"],
  ): Promise<Taken & { done: ReturnType<typeof done> }> {
    let taken: Taken | undefined;
    await using face = await startFace(async (request, response) => {
      const body = await readBody(request);
      taken = { headers: request.headers, trailer: request.trailers["content-digest"], body };
      response.writeHead(204).end();
    });
    const received = done(await agent(base, { mode: "export", what, url: face.url }, { token }));
    assert.deepEqual(face.seen, [{ method: "PUT", authorization: `Bearer ${token}` }]);
    assert.ok(taken);
    assert.equal(taken.headers["transfer-encoding"], "chunked");
    assert.equal(taken.trailer, trailerOf(taken.body));
    assert.deepEqual([received.size_bytes, received.sha256], [taken.body.length, digestOf(taken.body)]);
    return { ...taken, done: received };
  }

  test("of a backup sends the archive byte for byte, with its length", async () => {
    const { sha256 = "" } = done(await agent(base, { mode: "backup", to, keep_free: 0 }));
    const { body, headers } = await take({ kind: "backup", name: to.name, sha256 });
    assert.equal(digestOf(body), sha256);
    assert.equal(headers["x-svc-export-length"], String(body.length));
    assert.equal(headers["content-type"], "application/zstd");
  });

  test("of a world sends a .tar.gz without a length", async () => {
    const { body, headers } = await take({ kind: "world" });
    assert.deepEqual([body[0], body[1]], [0x1f, 0x8b]);
    assert.equal(headers["x-svc-export-length"], undefined);
  });

  test("of a file sends it with its length, of a folder a zip without", async () => {
    const file = await take({ kind: "file", path: "plugins/large.bin" });
    assert.equal(file.body.equals(content), true);
    assert.equal(file.headers["x-svc-export-length"], String(content.length));
    const folder = await take({ kind: "folder", path: "plugins" });
    assert.equal(folder.body.toString("latin1", 0, 2), "PK");
    assert.equal(folder.headers["x-svc-export-length"], undefined);
  });

  const file = { kind: "file" as const, path: "plugins/large.bin" };

  test("of bytes that are not those recorded ends with backup_corrupt", async () => {
    await using face = await startFace(async (request, response) => {
      await readBody(request);
      response.writeHead(409).end();
    });
    const run = await agent(base, { mode: "export", what: file, url: face.url }, { token });
    assert.equal(fault(run).code, "backup_corrupt");
  });

  for (const status of [200, 404, 410, 503]) {
    test(`that is answered ${status} before it was taken ends with transfer_failed`, async () => {
      // More than sockets hold on the way.
      await truncate(at("world", "plugins", "large.bin"), 64 << 20);
      await using face = await startFace((_, response) => void response.writeHead(status).end());
      const run = await agent(base, { mode: "export", what: file, url: face.url }, { token });
      assert.equal(fault(run).code, "transfer_failed");
    });
  }

  test("whose other end goes away ends with transfer_failed", async () => {
    await using face = await startFace(
      (request) => void request.once("data", () => request.socket.destroy()),
    );
    const task = { mode: "export" as const, what: { kind: "world" as const }, url: face.url };
    assert.equal(fault(await agent(base, task, { token })).code, "transfer_failed");
  });

  test("waits for a slow receiver and gives up on a stalled one", async () => {
    await using face = await startFace(() => undefined);
    let produced = 0;
    const sent = sendStream({ url: face.url, token, stallMs: 300, contentType: "x/y" }, async (write) => {
      for (let index = 0; index < 1_000; index += 1) {
        await write(Buffer.alloc(1 << 20));
        produced += 1;
      }
    });
    await assert.rejects(
      sent,
      (error) => isWorldFault(error, "transfer_failed") && /no progress/.test(error.message),
    );
    assert.ok(produced < 64, `${produced} MiB were read ahead of one who takes nothing`);
  });
});

describe("an upload", () => {
  const upload = (url: string, more: Partial<Task & { mode: "upload" }> = {}): Task => ({
    mode: "upload",
    path: "plugins/new.jar",
    overwrite: false,
    url,
    size: content.length,
    ...more,
  });
  // The second begins in the middle of a chunk.
  const parts = [content.subarray(0, 1_000_001), content.subarray(1_000_001)].map((part) => ({
    size: part.length,
    sha256: digestOf(part),
  }));

  test("is fetched once with its token, lands, and is reported as landed", async () => {
    await using face = await startFace((request, response) => {
      if (request.method === "GET") response.end(content);
      else response.writeHead(204).end();
    });
    const received = done(await agent(base, upload(face.url), { token, parts }));
    assert.deepEqual(received, { size_bytes: content.length });
    assert.equal((await readFile(at("world", "plugins", "new.jar"))).equals(content), true);
    const authorization = `Bearer ${token}`;
    assert.deepEqual(face.seen, [
      { method: "GET", authorization },
      { method: "DELETE", authorization },
    ]);
  });

  test("whose connection is cut, or that is not what was staged, lands nothing and is not reported", async () => {
    const answers: [code: string, answer: Parameters<typeof startFace>[0]][] = [
      [
        "transfer_failed",
        (_, response) => {
          response.writeHead(200, { "content-length": content.length });
          response.write(content.subarray(0, 1_000), () => response.destroy());
        },
      ],
      ["transfer_failed", (_, response) => void response.writeHead(404).end()],
      ["digest_mismatch", (_, response) => void response.end(content.subarray(1))],
      ["digest_mismatch", (_, response) => void response.end(randomBytes(content.length))],
    ];
    for (const [code, answer] of answers) {
      await using face = await startFace(answer);
      assert.equal(fault(await agent(base, upload(face.url), { token, parts })).code, code);
      assert.deepEqual(
        face.seen.map(({ method }) => method),
        ["GET"],
      );
      assert.deepEqual(await readdir(at("world", "plugins")), ["large.bin"]);
      assert.deepEqual((await readdir(at("world"))).sort(), ["plugins", "server.properties"]);
    }
  });

  test("over a file that is there does not even fetch", async () => {
    await using face = await startFace((_, response) => void response.end(content));
    const run = await agent(base, upload(face.url, { path: "plugins/large.bin" }), { token, parts });
    assert.equal(fault(run).code, "file_exists");
    assert.deepEqual(face.seen, []);
  });
});

test("a world moves to another volume by way of the face, compared with its archive", async () => {
  let moved = Buffer.alloc(0);
  await using face = await startFace(async (request, response) => {
    if (request.method === "GET") return void response.end(moved);
    moved = Buffer.from(await readBody(request));
    response.writeHead(200).end();
  });
  const url = { kind: "url" as const, url: face.url };
  const { sha256 = "" } = done(await agent(base, { mode: "backup", to: url, keep_free: 0 }, { token }));
  const target = at("target");
  await mkdir(join(target, "world"), { recursive: true });
  await mkdir(join(target, "store"));
  done(await agent(target, { mode: "restore", from: url, sha256, compare: true }, { token }));
  assert.equal((await readFile(join(target, "world", "plugins", "large.bin"))).equals(content), true);
  assert.deepEqual((await readdir(target)).sort(), ["store", "world"]);
});

test("what is sent to the archive folder of another node holds no secret of the proxy", async () => {
  let sent = Buffer.alloc(0);
  await using face = await startFace(async (request, response) => {
    sent = Buffer.from(await readBody(request));
    response.writeHead(200).end();
  });
  const secret = "VoVb0GTlVqZIlDeUrk0qq_I_kMp7oNlqVoVb0GTlVqZ";
  await mkdir(at("world", "config"));
  const paper = `proxies:\n  velocity:\n    secret: ${secret}\n`;
  await writeFile(at("world", "config", "paper-global.yml"), paper);
  const url = { kind: "url" as const, url: face.url };
  const { sha256 = "" } = done(await agent(base, { mode: "backup", to: url, keep_free: 0 }, { token }));
  await writeFile(at("store", to.name), sent);
  done(await agent(base, { mode: "restore", from: to, sha256 }));
  const back = await readFile(at("world", "config", "paper-global.yml"), "utf8");
  assert.match(back, /^proxies:\n {2}velocity:\n {4}secret: \w{32}\n$/);
});

// A quarter of a minute on two idle cores.
describe("with 100 MB of heap", { skip: isWhole ? false : "runs with npm test -- --whole" }, () => {
  const env = { NODE_OPTIONS: "--max-old-space-size=100" };

  test("a backup and a restore of any size pass", async () => {
    for (let index = 0; index < 12; index += 1)
      await writeFile(
        at("world", `region-${index}`),
        Buffer.concat([randomBytes(20 << 20), Buffer.alloc(20 << 20)]),
      );
    const { sha256 = "" } = done(await agent(base, { mode: "backup", to, keep_free: 0 }, { env }));
    await cp(at("world", "region-1"), at("other"));
    await rm(at("world", "region-1"));
    done(await agent(base, { mode: "restore", from: to, sha256 }, { env }));
    assert.equal((await readFile(at("world", "region-1"))).equals(await readFile(at("other"))), true);
  });

  test("an archive of 200,000 entries is extracted", async () => {
    const entries = Array.from({ length: 200_000 }, (_, index) => ({ name: `d${index % 100}/f${index}` }));
    await writeFile(at("world", "plugins", "many.zip"), makeZip(entries));
    const received = done(
      await agent(base, { mode: "unzip", path: "plugins/many.zip", overwrite: false }, { env }),
    );
    assert.deepEqual(received, { files: 200_000, bytes: 0 });
    assert.equal((await readdir(at("world", "plugins", "d7"))).length, 2_000);
  });
});
