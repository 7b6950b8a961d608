import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, before, describe, test } from "node:test";
import * as contracts from "../testing/contracts.ts";
import { type GatewayFixture, type RunningFace, startGatewayFixture } from "../testing/gateway-fixture.ts";
import { collect, parseAnswer, send, sendRaw } from "../testing/raw-request.ts";

let fixture: GatewayFixture;
let face: RunningFace;

before(async () => {
  fixture = await startGatewayFixture();
  fixture.owner.serve(contracts.open, (context, input) => ({
    principal: context.principal,
    client: context.client,
    request_id: context.requestId,
    traceparent: context.traceparent,
    input,
  }));
  fixture.owner.serve(contracts.write, (_context, input) => ({ got: input }));
  fixture.owner.serve(contracts.touch, () => null);
  face = await fixture.startFace();
});
after(() => fixture.close());

describe("requests that are not well-formed", () => {
  const closing = "Connection: close\r\n";
  test("two Host headers are refused and the connection is closed", async () => {
    const answer = parseAnswer(await sendRaw(face.port, "GET /open HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"));
    assert.equal(answer.status, 400);
    assert.equal(answer.headers["connection"], "close");
  });
  for (const host of ["", "a b", "a/b", "user@a", "a:port", "a,b"]) {
    test(`a Host of ${JSON.stringify(host)} is refused`, async () => {
      const answer = parseAnswer(await sendRaw(face.port, `GET /open HTTP/1.1\r\nHost: ${host}\r\n\r\n`));
      assert.equal(answer.status, 400);
    });
  }
  const smuggled: [string, string][] = [
    [
      "both Content-Length and Transfer-Encoding",
      "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    ["two different lengths", "Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcde"],
    ["a transfer encoding hidden by a space", "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n"],
    ["chunked that is not last", "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n"],
    ["a folded header", "X: a\r\n b\r\nContent-Length: 0 1\r\n\r\n"],
    ["a bare line feed", "X: a\nContent-Length: 3\r\n\r\nabc"],
  ];
  for (const [what, rest] of smuggled) {
    test(`${what} is one 400, and nothing after it is read as a request`, async () => {
      const text = await sendRaw(
        face.port,
        `POST /things/a/touch HTTP/1.1\r\nHost: a\r\n${rest}GET /open HTTP/1.1\r\nHost: a\r\n${closing}\r\n`,
      );
      assert.equal(text.match(/HTTP\/1\.1 /g)?.length, 1, text);
      assert.match(text, /^HTTP\/1\.1 400 /);
    });
  }
  test("garbage after a valid request does not change its response", async () => {
    const text = await sendRaw(face.port, "GET /open HTTP/1.1\r\nHost: a\r\n\r\nGARBAGE /\r\n\r\n");
    assert.match(text, /^HTTP\/1\.1 200 /);
    assert.equal(text.match(/HTTP\/1\.1 /g)?.length, 1);
  });
  test("a malformed chunk in a body is 400", async () => {
    const head =
      "PUT /things/a HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert.equal(parseAnswer(await sendRaw(face.port, `${head}zz\r\n`)).status, 400);
  });
  test("a header cannot forge a log line", async () => {
    await send(face.port, {
      path: "/nowhere?x=1",
      headers: { "x-request-id": "a%0aforged", "user-agent": "a\tb" },
    });
    assert.ok(face.log.every((line) => typeof line["msg"] === "string"));
  });
});

describe("slow callers", () => {
  test("headers that do not end are cut off with 408", async () => {
    const slow = await fixture.startFace({ settings: { headersTimeoutMs: 200 } });
    const answer = parseAnswer(await sendRaw(slow.port, "GET /open HTTP/1.1\r\nHost: a\r\n"));
    assert.equal(answer.status, 408);
    assert.equal(answer.headers["x-frame-options"], "DENY");
  });
  test("a body below the minimum rate closes the connection after the grace period", async () => {
    const slow = await fixture.startFace({ settings: { bodyGraceMs: 200, bodyBytesPerSecond: 1_000 } });
    const started = Date.now();
    const text = await sendRaw(
      slow.port,
      "PUT /things/a HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{",
    );
    assert.equal(text, "");
    assert.ok(Date.now() - started >= 200);
  });
  test("a refused request whose body never ends is closed too", async () => {
    const slow = await fixture.startFace({ settings: { bodyGraceMs: 200, bodyBytesPerSecond: 1_000 } });
    const text = await sendRaw(slow.port, "POST /nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n{");
    assert.match(text, /^HTTP\/1\.1 404 /);
  });
  test("a body at the minimum rate is read to its end", async () => {
    const slow = await fixture.startFace({ settings: { bodyGraceMs: 200, bodyBytesPerSecond: 5 } });
    const socket = connect({ host: "127.0.0.1", port: slow.port });
    const body = '{"size":3}';
    socket.write(
      `PUT /things/a HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
    );
    const all = collect(socket);
    for (const letter of body) {
      socket.write(letter);
      await new Promise((resolve) => setTimeout(resolve, 40));
    }
    assert.match(await all, /^HTTP\/1\.1 201 /);
  });
});
