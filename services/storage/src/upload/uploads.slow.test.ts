import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import { until } from "@svc/mesh/testing";
import { uploads } from "@svc/proto";
import {
  contentDigest,
  cookie,
  digestOf,
  type FaceFixture,
  openFaceFixture,
} from "../testing/face-fixture.ts";
import type { Replica } from "../testing/fixture.ts";

const base = "/api/v1/servers/survival/files";
type Session = uploads.FileUploadSession;
type Op = { id: string; state: string; error?: { code: string; message: string } };

describe("uploads, over both faces and with the shipped agent", () => {
  let fixture: FaceFixture;
  let replica: Replica;
  const begun = new Set<string>();
  const inWorld = (path: string) => join(fixture.worldDir("survival"), path);
  const staged = () => readdirSync(fixture.stagingDir);
  before(async () => {
    fixture = await openFaceFixture();
    replica = await fixture.start();
    await fixture.base.addServer("survival", "usr-1", { "level.dat": "one" });
  });
  after(() => fixture?.close());

  const begin = async (path: string, size: number) => {
    const about = { method: "POST", json: { size } };
    const { status, body } = await fixture.ask(`${base}/uploads?path=${path}`, about);
    assert.equal(status, 201, JSON.stringify(body));
    begun.add((body as Session).id);
    return body as Session;
  };
  const put = (id: string, offset: number, bytes: Uint8Array, headers: Record<string, string> = {}) =>
    fixture.ask(`${base}/uploads/${id}?offset=${offset}`, { method: "PUT", bytes, headers });
  const read = async (id: string) => (await fixture.ask(`${base}/uploads/${id}`)).body as Session;
  const codeOf = ({ status, body }: Awaited<ReturnType<typeof put>>) =>
    `${status} ${(body["error"] as { code?: string } | undefined)?.code ?? ""}`.trim();
  const commit = (id: string, json: object = {}) =>
    fixture.ask(`${base}/uploads/${id}/commit`, { method: "POST", json });
  const ended = async (id: string) => {
    const find = async () => {
      const { status, body } = await fixture.ask(`${base}/ops`);
      assert.equal(status, 200, JSON.stringify(body));
      return (body["ops"] as Op[]).find((op) => op.id === id);
    };
    await until(async () => (await find())?.state !== "running", 20_000);
    return find();
  };
  const cancelAll = async () => {
    for (const id of begun) await fixture.ask(`${base}/uploads/${id}`, { method: "DELETE" });
    begun.clear();
  };

  describe("in one request", () => {
    const upload = (
      path: string,
      bytes: Uint8Array,
      about: { overwrite?: boolean; headers?: Record<string, string> } = {},
    ) =>
      fixture.ask(`${base}/upload?path=${path}&overwrite=${about.overwrite ?? false}`, {
        method: "PUT",
        bytes,
        ...(about.headers && { headers: about.headers }),
      });

    test("a file is complete in the world, and nothing stays staged", async () => {
      const bytes = randomBytes(3_000_000);
      const { status, body } = await upload("mods.jar", bytes);
      assert.equal(status, 200, JSON.stringify(body));
      const sha256 = digestOf(bytes).toString("hex");
      assert.deepEqual(body, { path: "mods.jar", status: "uploaded", sha256, size: 3_000_000 });
      assert.ok(readFileSync(inWorld("mods.jar")).equals(bytes));
      await until(() => staged().length === 0);
    });
    test("an empty file is written", async () => {
      const { status, body } = await upload("empty.txt", new Uint8Array(0), {
        headers: { "content-length": "0" },
      });
      assert.equal(status, 200, JSON.stringify(body));
      assert.equal(readFileSync(inWorld("empty.txt")).length, 0);
    });
    test("an existing file is replaced only on request", async () => {
      assert.equal(codeOf(await upload("level.dat", Buffer.from("two"))), "409 file_exists");
      assert.equal(readFileSync(inWorld("level.dat"), "utf8"), "one");
      assert.equal((await upload("level.dat", Buffer.from("two"), { overwrite: true })).status, 200);
      assert.equal(readFileSync(inWorld("level.dat"), "utf8"), "two");
      assert.equal(codeOf(await upload("no/where.txt", Buffer.from("x"))), "404 not_found");
    });
    test("a missing, malformed or wrong digest changes nothing", async () => {
      const bytes = Buffer.from("three");
      const wrong = contentDigest(Buffer.from("other"));
      const codes = [];
      for (const digest of ["sha-512=:AAAA:", "sha-256=:no:", wrong]) {
        codes.push(
          codeOf(
            await upload("level.dat", bytes, { overwrite: true, headers: { "content-digest": digest } }),
          ),
        );
      }
      assert.deepEqual(codes, ["400 digest_required", "400 bad_digest", "400 digest_mismatch"]);
      assert.equal(readFileSync(inWorld("level.dat"), "utf8"), "two");
      await until(() => staged().length === 0);
    });
    test("a body without a Content-Length is 411, one over 64 MiB is 413 before a byte is read", async () => {
      const raw = (headers: Record<string, string>) =>
        new Promise<number>((resolve, reject) => {
          const url = `${fixture.externalUrl}${base}/upload?path=x`;
          const all = { ...cookie("usr-1"), "content-digest": contentDigest(Buffer.from("x")), ...headers };
          const outgoing = request(url, { method: "PUT", headers: all }, (response) => {
            resolve(response.statusCode ?? 0);
            outgoing.destroy();
          });
          outgoing.on("error", reject);
          outgoing.flushHeaders();
        });
      assert.equal(await raw({ "transfer-encoding": "chunked" }), 411);
      assert.equal(await raw({ "content-length": String(uploads.singleUploadBytes + 1) }), 413);
    });
    test("a connection that is cut leaves nothing behind", async () => {
      const url = `${fixture.externalUrl}${base}/upload?path=cut.bin`;
      const headers = {
        ...cookie("usr-1"),
        "content-digest": contentDigest(Buffer.alloc(1)),
        "content-length": "1000000",
        "content-type": "application/octet-stream",
      };
      const outgoing = request(url, { method: "PUT", headers });
      outgoing.on("error", () => {});
      outgoing.write(Buffer.alloc(300_000));
      await until(() => staged().length === 1);
      outgoing.destroy();
      await until(() => staged().length === 0);
      assert.equal(existsSync(inWorld("cut.bin")), false);
    });
  });

  describe("in parts", () => {
    afterEach(cancelAll);

    test("parts in order make up the file, and the operation has the result", async () => {
      const bytes = randomBytes(2_500_000);
      const { id, part_max_bytes, received } = await begin("big.bin", bytes.length);
      assert.deepEqual([part_max_bytes, received], [33_554_432, 0]);
      for (let at = 0; at < bytes.length; at += 1_000_000) {
        const part = bytes.subarray(at, at + 1_000_000);
        const { status, body } = await put(id, at, part);
        assert.equal(status, 200, JSON.stringify(body));
        assert.equal(body["received"], at + part.length);
      }
      const { parts } = await read(id);
      assert.deepEqual(
        parts.map(({ size, sha256 }) => [size, sha256]),
        [0, 1_000_000, 2_000_000].map((at) => {
          const part = bytes.subarray(at, at + 1_000_000);
          return [part.length, digestOf(part).toString("hex")];
        }),
      );
      const { status, body } = await commit(id);
      assert.equal(status, 202, JSON.stringify(body));
      const op = await ended((body["op"] as Op).id);
      assert.equal(op?.state, "succeeded", JSON.stringify(op));
      assert.ok(readFileSync(inWorld("big.bin")).equals(bytes));
      assert.equal((await fixture.ask(`${base}/uploads/${id}`)).status, 404);
      assert.deepEqual(staged(), []);
    });
    test("an empty session is committed without a part", async () => {
      const { id } = await begin("hollow.bin", 0);
      const op = await ended(((await commit(id)).body["op"] as Op).id);
      assert.equal(op?.state, "succeeded", JSON.stringify(op));
      assert.equal(readFileSync(inWorld("hollow.bin")).length, 0);
    });
    test("a part out of order, repeated, wrong or beyond the end is rejected and changes nothing", async () => {
      const { id } = await begin("order.bin", 10);
      const first = Buffer.from("01234");
      const wrong = { "content-digest": contentDigest(Buffer.from("other")) };
      const codes = [
        codeOf(await put(id, 5, first)),
        codeOf(await put(id, 0, first, wrong)),
        codeOf(await put(id, 0, Buffer.alloc(11))),
        codeOf(await put(id, 0, first)),
        codeOf(await put(id, 0, first)),
        codeOf(await put(id, 5, Buffer.alloc(6))),
        codeOf(await commit(id)),
      ];
      assert.deepEqual(codes, [
        "409 upload_offset_mismatch",
        "400 digest_mismatch",
        "413 part_too_large",
        "200",
        "409 upload_offset_mismatch",
        "413 part_too_large",
        "409 upload_incomplete",
      ]);
      assert.equal((await read(id)).received, 5);
      assert.equal(readdirSync(join(fixture.stagingDir, id)).length, 1);
    });
    test("of two writers of one part one succeeds, and the other gets a busy error", async () => {
      const bytes = randomBytes(4_000_000);
      const { id } = await begin("race.bin", bytes.length);
      const codes = (await Promise.all([put(id, 0, bytes), put(id, 0, bytes), put(id, 0, bytes)])).map(
        codeOf,
      );
      assert.equal(codes.filter((code) => code === "200").length, 1, codes.join());
      const others = codes.filter((code) => code !== "200");
      assert.ok(
        others.every((code) => /^409 upload_(busy|offset_mismatch)$/.test(code)),
        codes.join(),
      );
      assert.equal(readdirSync(join(fixture.stagingDir, id)).length, 1);
    });
    test("a fifth session of an account is rejected, and a cancelled one no longer counts", async () => {
      const sessions = [];
      for (let n = 0; n < 4; n++) sessions.push(await begin(`many-${n}.bin`, 10));
      const fifth = () => fixture.refusal(`${base}/uploads?path=x`, { method: "POST", json: { size: 1 } });
      assert.equal(await fifth(), "429 too_many_uploads");
      const [one] = sessions;
      assert.equal((await fixture.ask(`${base}/uploads/${one?.id}`, { method: "DELETE" })).status, 204);
      const { id } = await begin("many-4.bin", 10);
      for (const session of [...sessions, { id }]) {
        await fixture.ask(`${base}/uploads/${session.id}`, { method: "DELETE" });
      }
    });
    test("a session is 404 for every other account and on every other server", async () => {
      await fixture.base.addServer("other", "usr-1");
      const { id } = await begin("mine.bin", 10);
      assert.equal(await fixture.refusal(`${base}/uploads/${id}`, { as: "usr-2" }), "403 forbidden");
      const elsewhere = `/api/v1/servers/other/files/uploads/${id}`;
      assert.equal(await fixture.refusal(elsewhere), "404 upload_not_found");
      assert.equal(await fixture.refusal(`${base}/uploads/..`), "404 not_found");
      await fixture.ask(`${base}/uploads/${id}`, { method: "DELETE" });
    });
    test("a token serves the staged file once, and a wrong token is 404 like a wrong id", async () => {
      const { id } = await begin("token.bin", 5);
      await put(id, 0, Buffer.from("01234"));
      for (const place of [id, "0".repeat(32), "x"]) {
        const headers = { authorization: `Bearer ${"a".repeat(64)}` };
        const url = `${fixture.internalUrl}/api/v1/internal/file-uploads/${place}`;
        for (const method of ["GET", "DELETE"])
          assert.equal((await fetch(url, { method, headers })).status, 404);
      }
      await fixture.ask(`${base}/uploads/${id}`, { method: "DELETE" });
    });
    test("a failed commit keeps the session, and the next one succeeds", async () => {
      writeFileSync(inWorld("there.bin"), "old");
      const { id } = await begin("there.bin", 5);
      await put(id, 0, Buffer.from("01234"));
      const failed = await ended(((await commit(id)).body["op"] as Op).id);
      assert.deepEqual([failed?.state, failed?.error?.code], ["failed", "file_exists"]);
      assert.equal(readFileSync(inWorld("there.bin"), "utf8"), "old");
      const again = await ended(((await commit(id, { overwrite: true })).body["op"] as Op).id);
      assert.equal(again?.state, "succeeded", JSON.stringify(again));
      assert.equal(readFileSync(inWorld("there.bin"), "utf8"), "01234");
    });
  });

  describe("when processes die", () => {
    test("a session continues at another replica where it stopped", async () => {
      const bytes = randomBytes(2_000_000);
      const { id } = await begin("resumed.bin", bytes.length);
      await put(id, 0, bytes.subarray(0, 1_000_000));
      await replica.stop();
      replica = await fixture.start();
      assert.equal((await read(id)).received, 1_000_000);
      assert.equal(codeOf(await put(id, 1_000_000, bytes.subarray(1_000_000))), "200");
      const op = await ended(((await commit(id)).body["op"] as Op).id);
      assert.equal(op?.state, "succeeded", JSON.stringify(op));
      assert.ok(readFileSync(inWorld("resumed.bin")).equals(bytes));
    });
    test("a commit whose replica stops right after it succeeds, or can be repeated", async () => {
      const bytes = randomBytes(20_000_000);
      const { id } = await begin("gathered.bin", bytes.length);
      for (const at of [0, 10_000_000]) await put(id, at, bytes.subarray(at, at + 10_000_000));
      const first = (await commit(id)).body["op"] as Op;
      await replica.stop();
      replica = await fixture.start();
      const op = await ended(first.id);
      if (op?.state === "failed") {
        assert.equal(op.error?.code, "job_failed");
        assert.equal(existsSync(inWorld("gathered.bin")), false);
        const again = await ended(((await commit(id)).body["op"] as Op).id);
        assert.equal(again?.state, "succeeded", JSON.stringify(again));
      }
      assert.ok(readFileSync(inWorld("gathered.bin")).equals(bytes));
    });
    test("the lease of a dead writer expires, and its incomplete part is swept", async () => {
      const { id } = await begin("dead.bin", 10);
      const bucket = await fixture.base.nats.connect("storage");
      const entry = await bucket.bucket(uploads.stagedUploads).get(id);
      assert.ok(entry);
      const dead = { ...entry.value, writer: { id: "dead", until: Date.now() + 700 } };
      await bucket.bucket(uploads.stagedUploads).update(id, dead, entry.revision);
      assert.equal(codeOf(await put(id, 0, Buffer.from("01234"))), "409 upload_busy");
      assert.equal(await fixture.refusal(`${base}/uploads/${id}`, { method: "DELETE" }), "409 upload_busy");
      await until(async () => codeOf(await put(id, 0, Buffer.from("01234"))) === "200");
      await bucket.drain(100);
      await fixture.ask(`${base}/uploads/${id}`, { method: "DELETE" });
    });
  });
});
