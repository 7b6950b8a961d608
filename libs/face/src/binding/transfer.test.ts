import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { connect } from "node:net";
import { after, before, describe, test } from "node:test";
import { Fault } from "@svc/proto";
import { collect, parseAnswer, send } from "../testing/raw-http.ts";
import { type OpenFace, openTestBed, type TestBed } from "../testing/test-bed.ts";
import * as contracts from "../testing/test-contracts.ts";

let bed: TestBed;
let face: OpenFace;

before(async () => {
  bed = await openTestBed();
  face = await bed.openFace();
});
after(() => bed.close());

describe("uploads and downloads", () => {
  before(() => {
    bed.owner.serve(contracts.put, (context, { id }) => {
      context.reply.lane = bed.owner.lanes.upload({
        receive: async (body, about) => {
          const digest = createHash("sha256");
          let size = 0;
          for await (const chunk of body) {
            digest.update(chunk);
            size += chunk.byteLength;
          }
          if (id === "refused") throw new Fault("too_large", { message: "Too large for this." });
          return { size, sha256: digest.digest("hex"), ...about };
        },
      });
      return null;
    });
    bed.owner.serve(contracts.get, (context, { id }) => {
      const bytes = Buffer.alloc(3_000_000, id);
      context.reply.lane = bed.owner.lanes.download({
        headers: {
          "Content-Type": "application/gzip",
          "Content-Length": String(bytes.length),
          "Content-Disposition": 'attachment; filename="a.gz"',
          "X-Internal": "stays inside",
          "Set-Cookie": "svc_session=forged",
        },
        source: async function* () {
          yield bytes.subarray(0, 1_000_000);
          if (id === "broken") throw new Error("the disk is gone");
          yield bytes.subarray(1_000_000);
        },
      });
      return null;
    });
  });

  test("a body reaches the owner whole, with its length and digest", async () => {
    const body = "z".repeat(2_000_000);
    const answer = await send(face.port, {
      ...{ method: "PUT", path: "/blobs/a", body },
      headers: {
        "content-length": String(body.length),
        "content-digest": "sha-256=:abc=:",
        "content-type": "text/x",
      },
    });
    assert.equal(answer.status, 200, answer.body);
    assert.deepEqual(answer.json(), {
      size: body.length,
      sha256: createHash("sha256").update(body).digest("hex"),
      contentLength: body.length,
      contentDigest: "sha-256=:abc=:",
    });
  });
  test("a body without a length is 411, one over the ceiling is 413", async () => {
    const chunked = { "transfer-encoding": "chunked" };
    const answer = await send(face.port, { method: "PUT", path: "/blobs/a", headers: chunked, body: "a" });
    assert.equal(answer.status, 411);
    const own = await bed.openFace({ settings: { uploadBytes: 10 } });
    const large = await send(own.port, {
      ...{ method: "PUT", path: "/blobs/a", body: "x".repeat(11) },
      headers: { "content-length": "11" },
    });
    assert.equal(large.status, 413);
  });
  test("an owner that refuses the bytes is heard", async () => {
    const body = "z".repeat(4_000_000);
    const answer = await send(face.port, {
      ...{ method: "PUT", path: "/blobs/refused", body },
      headers: { "content-length": String(body.length) },
    });
    assert.equal(answer.status, 413, answer.body);
    assert.match(answer.body, /Too large for this/);
  });
  test("a download passes the owner's bytes and only the headers that may pass", async () => {
    const answer = await send(face.port, { path: "/blobs/b" });
    assert.equal(answer.status, 200);
    assert.equal(answer.body, "b".repeat(3_000_000));
    assert.equal(answer.headers["content-type"], "application/gzip");
    assert.equal(answer.headers["content-disposition"], 'attachment; filename="a.gz"');
    assert.equal(answer.headers["x-internal"], undefined);
    assert.equal(answer.headers["set-cookie"], undefined);
    assert.equal(answer.headers["content-security-policy"], "default-src 'none'");
    const line = face.log.find((one) => one["request_id"] === answer.headers["x-request-id"]);
    assert.equal(line?.["bytes"], 3_000_000);
  });
  test("a download that breaks is cut off, never completed", async () => {
    const socket = connect({ host: "127.0.0.1", port: face.port });
    socket.on("error", () => {});
    socket.write("GET /blobs/broken HTTP/1.1\r\nHost: a\r\n\r\n");
    const answer = parseAnswer(await collect(socket));
    assert.equal(answer.status, 200);
    assert.ok(answer.body.length < 3_000_000);
  });
});
