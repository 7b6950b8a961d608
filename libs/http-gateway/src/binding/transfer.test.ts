import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { connect, type Socket } from "node:net";
import { after, before, describe, test } from "node:test";
import { until } from "@svc/mesh/testing";
import { Fault } from "@svc/proto";
import * as contracts from "../testing/contracts.ts";
import { type GatewayFixture, type RunningFace, startGatewayFixture } from "../testing/gateway-fixture.ts";
import { collect, parseAnswer, send, sendRaw } from "../testing/raw-request.ts";

let fixture: GatewayFixture;
let face: RunningFace;

before(async () => {
  fixture = await startGatewayFixture();
});
after(() => fixture.close());

const streamed: Record<string, unknown>[] = [];
const { promise: parked, resolve: unpark } = Promise.withResolvers<void>();

const arriving = new Set<string>();

async function sizeOf(body: AsyncIterable<Uint8Array>, id: string): Promise<number | "broken"> {
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      arriving.add(id);
    }
    return bytes;
  } catch {
    return "broken";
  }
}

/** Opens a chunked upload by hand. */
function openStream(id: string, head = "Authorization: Bearer right\r\n", port = face.port): Socket {
  const socket = connect({ host: "127.0.0.1", port });
  socket.on("error", () => {});
  socket.write(`PUT /streams/${id} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${head}`);
  socket.write("Transfer-Encoding: chunked\r\nTrailer: Content-Digest\r\n\r\n");
  return socket;
}
const chunkOf = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
const endOf = (trailer = "") => `0\r\n${trailer}\r\n`;
const streamOf = (id: string) => streamed.find((one) => one["id"] === id);

describe("uploads and downloads", () => {
  before(() => {
    fixture.owner.serve(contracts.put, (context, { id }) => {
      context.reply.byteTransfer = fixture.owner.byteTransfers.upload({
        receive: async (body, about) => {
          const digest = createHash("sha256");
          let size = 0;
          if (id === "unread") throw new Fault("too_large");
          for await (const chunk of body) {
            if (id === "begun") throw new Fault("too_large");
            digest.update(chunk);
            size += chunk.byteLength;
          }
          if (id === "refused") throw new Fault("too_large", { message: "Too large for this." });
          return { size, sha256: digest.digest("hex"), ...about };
        },
      });
      return null;
    });
    fixture.owner.serve(contracts.putPart, (context, input) => {
      context.reply.byteTransfer = fixture.owner.byteTransfers.upload({
        receive: async (body) => ({ ...input, bytes: await sizeOf(body, "part") }),
      });
      return null;
    });
    fixture.owner.serve(contracts.putStream, (context, { id, token }) => {
      if (token !== "right") throw context.fault("not_found");
      context.reply.byteTransfer = fixture.owner.byteTransfers.upload({
        receive: async (body, { trailerDigest, contentLength }) => {
          if (id === "parked") await parked;
          const bytes = await sizeOf(body, id);
          streamed.push({ id, bytes, contentLength, digest: trailerDigest() });
          return null;
        },
      });
      return null;
    });
    fixture.owner.serve(contracts.get, (context, { id }) => {
      const bytes = Buffer.alloc(3_000_000, id);
      context.reply.byteTransfer = fixture.owner.byteTransfers.download({
        headers: {
          "Content-Type": "application/gzip",
          "Content-Length": String(id === "promising" ? bytes.length + 10 : bytes.length),
          "Content-Disposition": 'attachment; filename="a.gz"',
          "X-Internal": "stays inside",
          "Set-Cookie": "svc_session=forged",
        },
        source: async function* () {
          yield bytes.subarray(0, 1_000_000);
          if (id === "broken") throw new Error("the disk is gone");
          yield bytes.subarray(1_000_000);
          if (id === "generous") yield bytes.subarray(0, 10);
        },
      });
      return null;
    });
  });

  before(async () => {
    face = await fixture.startFace();
  });

  test("a body reaches the owner complete, with its length and digest", async () => {
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
    const own = await fixture.startFace({ settings: { uploadBytes: 10 } });
    const large = await send(own.port, {
      ...{ method: "PUT", path: "/blobs/a", body: "x".repeat(11) },
      headers: { "content-length": "11" },
    });
    assert.equal(large.status, 413);
  });
  test("a part over its limit has its own code, before the owner is asked and before a byte is sent", async () => {
    const head = "PUT /parts/a HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 1001\r\n\r\n";
    const answer = parseAnswer(await sendRaw(face.port, head));
    assert.equal(answer.status, 413);
    assert.match(answer.body, /"code":"part_too_large"/);
    assert.match(answer.body, /1000 bytes/);
  });
  for (const type of ["application/octet-stream", "Application/Octet-Stream; x=y", undefined]) {
    test(`a part of type ${type} is accepted, and its headers are input`, async () => {
      const answer = await send(face.port, {
        ...{ method: "PUT", path: "/parts/a", body: "abc" },
        headers: {
          ...(type && { "content-type": type }),
          "content-length": "3",
          "content-digest": "sha-256=:x:",
        },
      });
      assert.equal(answer.status, 200, answer.body);
      const input = { id: "a", content_digest: "sha-256=:x:", content_length: 3 };
      assert.deepEqual(answer.json(), { ...input, bytes: 3 });
    });
  }
  test("a part of another type is 415, and the message names the accepted one", async () => {
    const answer = await send(face.port, {
      ...{ method: "PUT", path: "/parts/a", body: "abc" },
      headers: { "content-type": "application/json", "content-length": "3" },
    });
    assert.equal(answer.status, 415);
    assert.match(answer.body, /must be application\/octet-stream/);
  });

  test("a body without a length reaches the owner with the digest of its trailers", async () => {
    const socket = openStream("trailers");
    socket.write(chunkOf("hello ") + chunkOf("world") + endOf("Content-Digest: sha-256=:end:\r\n"));
    assert.match(await collect(socket), /^HTTP\/1\.1 204 /);
    assert.deepEqual(streamOf("trailers"), {
      id: "trailers",
      bytes: 11,
      contentLength: undefined,
      digest: "sha-256=:end:",
    });
  });
  test("a body without trailers has no digest", async () => {
    const socket = openStream("bare");
    socket.write(chunkOf("hello") + endOf());
    assert.match(await collect(socket), /^HTTP\/1\.1 204 /);
    assert.equal(streamOf("bare")?.["digest"], undefined);
  });
  test("a body that exceeds the limit while it is sent is 413 and incomplete at the owner", async () => {
    const socket = openStream("growing");
    for (let count = 0; count < 60; count++) socket.write(chunkOf("x".repeat(100_000)));
    socket.write(endOf());
    assert.match(await collect(socket), /^HTTP\/1\.1 413 [\s\S]*5000000 bytes/);
    await until(() => streamOf("growing") !== undefined);
    assert.equal(streamOf("growing")?.["bytes"], "broken");
  });
  test("a body whose caller disconnects is incomplete at the owner, never complete", async () => {
    const socket = openStream("cut");
    socket.write(chunkOf("hello"));
    await until(() => arriving.has("cut"));
    socket.destroy();
    await until(() => streamOf("cut") !== undefined);
    assert.equal(streamOf("cut")?.["bytes"], "broken");
  });
  test("a wrong token is refused without a byte of the body", async () => {
    const text = await collect(openStream("a", "Authorization: Bearer wrong\r\nExpect: 100-continue\r\n"));
    assert.match(text, /^HTTP\/1\.1 404 /);
  });
  test("a body without a minimum rate may be slower than the rate that ends others", async () => {
    const own = await fixture.startFace({ settings: { bodyGraceMs: 40, bodyBytesPerSecond: 1_000_000 } });
    const slow = openStream("parked", undefined, own.port);
    slow.write(chunkOf("hello"));
    const other = connect({ host: "127.0.0.1", port: own.port });
    other.on("error", () => {});
    other.write("PUT /blobs/a HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nabc");
    await collect(other);
    assert.equal(slow.destroyed, false);
    unpark();
    slow.write(chunkOf("world") + endOf());
    assert.match(await collect(slow), /^HTTP\/1\.1 204 /);
    assert.equal(streamOf("parked")?.["bytes"], 10);
  });

  test("a refusal by the owner reaches the caller", async () => {
    const body = "z".repeat(4_000_000);
    const answer = await send(face.port, {
      ...{ method: "PUT", path: "/blobs/refused", body },
      headers: { "content-length": String(body.length) },
    });
    assert.equal(answer.status, 413, answer.body);
    assert.match(answer.body, /Too large for this/);
  });
  for (const id of ["unread", "begun"]) {
    test(`a connection whose upload was refused ${id} serves the next request`, async () => {
      for (const length of [100_000, 1_000_000, 4_000_000]) {
        const put = `PUT /blobs/${id} HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`;
        const next = "HEAD /blobs/b HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        const text = await sendRaw(face.port, `${put}${"x".repeat(length)}${next}`);
        assert.match(text, /^HTTP\/1\.1 413 [\s\S]*HTTP\/1\.1 405 /, `${length} bytes`);
      }
    });
  }
  test("a body that ends too early is answered with the fault of its binding", async () => {
    const socket = connect({ host: "127.0.0.1", port: face.port, allowHalfOpen: true });
    socket.end("PUT /parts/a HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nabc");
    assert.match(await collect(socket), /^HTTP\/1\.1 400 [\s\S]*"code":"upload_incomplete"/);
  });
  test("a download forwards the owner's bytes and only the permitted headers", async () => {
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
  for (const [id, what] of [
    ["broken", "breaks"],
    ["promising", "ends before its promised length"],
  ]) {
    test(`a download that ${what} is cut off, never completed`, async () => {
      const head = `GET /blobs/${id} HTTP/1.1\r\nHost: a\r\n\r\n`;
      const answer = parseAnswer(await sendRaw(face.port, head));
      assert.equal(answer.status, 200);
      assert.ok(answer.body.length < Number(answer.headers["content-length"]));
    });
  }
  test("a download longer than its declared length is cut off there", async () => {
    const text = await sendRaw(face.port, "GET /blobs/generous HTTP/1.1\r\nHost: a\r\n\r\n");
    assert.ok(parseAnswer(text).body.length <= 3_000_000);
  });
  test("a download is GET only: HEAD would use up its ticket", async () => {
    const answer = await send(face.port, { method: "HEAD", path: "/blobs/b" });
    assert.equal(answer.status, 405);
    assert.equal(answer.headers["allow"], "GET, PUT");
  });
});
