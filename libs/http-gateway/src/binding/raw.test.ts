import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, before, describe, test } from "node:test";
import { Fault } from "@svc/proto";
import * as contracts from "../testing/contracts.ts";
import { type GatewayFixture, type RunningFace, startGatewayFixture } from "../testing/gateway-fixture.ts";
import { collect, parseAnswer, send, sendRaw } from "../testing/raw-request.ts";

let fixture: GatewayFixture;
let face: RunningFace;

before(async () => {
  fixture = await startGatewayFixture();
  fixture.owner.serve(contracts.raw, (_context, { say }) => {
    if (say === "fault") throw new Fault("unavailable");
    if (say === "crash") throw new Error("a bug");
    return say === "null" ? null : { yes: true as const };
  });
  fixture.owner.serve(contracts.spend, (context, input) => {
    if (input.token !== "right") throw context.fault("not_found");
    return { principal: context.principal, client: {}, request_id: "", traceparent: "", input };
  });
  fixture.owner.serve(contracts.write, (_context, input) => ({ got: input }));
  face = await fixture.startFace();
});
after(() => fixture.close());

describe("a protocol without an error envelope", () => {
  for (const path of ["/raw", "/raw/also"]) {
    test(`${path} answers what the owner answers`, async () => {
      const answer = await send(face.port, { path: `${path}?say=yes` });
      assert.equal(answer.status, 200);
      assert.deepEqual(answer.json(), { yes: true });
    });
    test(`${path} answers 204 without a body for null`, async () => {
      const answer = await send(face.port, { path: `${path}?say=null` });
      assert.equal(answer.status, 204);
      assert.equal(answer.body, "");
    });
  }
  test("a fault is answered with its status, an empty body and Retry-After", async () => {
    const answer = await send(face.port, { path: "/raw?say=fault" });
    assert.equal(answer.status, 503);
    assert.equal(answer.body, "");
    assert.equal(answer.headers["content-length"], "0");
    assert.equal(answer.headers["retry-after"], "1");
    assert.ok(answer.headers["x-request-id"]);
  });
  test("only an internal error keeps its envelope", async () => {
    const answer = await send(face.port, { path: "/raw?say=crash" });
    assert.equal(answer.status, 500);
    assert.match(answer.body, /"code":"internal"/);
  });
  test("an invalid query is an empty 400", async () => {
    const answer = await send(face.port, { path: "/raw?say=what" });
    assert.equal(answer.status, 400);
    assert.equal(answer.body, "");
  });
  for (const declared of ["Content-Length: 3\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"]) {
    test(`a request with ${declared.split(":")[0]} is an empty 400 and the connection is closed`, async () => {
      const text = await sendRaw(face.port, `GET /raw?say=yes HTTP/1.1\r\nHost: a\r\n${declared}`);
      const answer = parseAnswer(text);
      assert.equal(answer.status, 400);
      assert.equal(answer.body, "");
      assert.equal(answer.headers["connection"], "close");
    });
  }
  test("Content-Length: 0 is not a body", async () => {
    const head = "GET /raw?say=yes HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    assert.equal(parseAnswer(await sendRaw(face.port, head)).status, 200);
  });
  test("another method is 405 on both paths", async () => {
    for (const path of ["/raw", "/raw/also"]) {
      const answer = await send(face.port, { method: "POST", path });
      assert.equal(answer.status, 405);
      assert.equal(answer.headers["allow"], "GET, HEAD");
    }
  });
});

describe("one-time tokens and headers as input", () => {
  const spend = (headers: Record<string, string>) =>
    send(face.port, { method: "DELETE", path: "/tokens/a", headers });

  test("the bearer token and the declared headers reach the owner, and nothing else", async () => {
    const answer = await spend({
      authorization: "Bearer right",
      "x-some-length": "12",
      "content-digest": "sha-256=:x:",
      "x-other": "stays",
    });
    assert.equal(answer.status, 200, answer.body);
    assert.deepEqual(answer.json()["input"], {
      id: "a",
      token: "right",
      x_some_length: 12,
      content_digest: "sha-256=:x:",
    });
    assert.deepEqual(answer.json()["principal"], { kind: "anonymous" });
  });
  const tokens: [string, Record<string, string>][] = [
    ["no token", {}],
    ["a wrong token", { authorization: "Bearer wrong" }],
    ["another scheme", { authorization: "Basic right" }],
    ["a token with a space", { authorization: "Bearer ri ght" }],
    ["a token that is far too long", { authorization: `Bearer ${"x".repeat(300)}` }],
  ];
  for (const [what, headers] of tokens) {
    test(`${what} is refused by the owner in the same way`, async () => {
      const answer = await spend(headers);
      assert.equal(answer.status, 404);
      assert.match(answer.body, /"code":"not_found"/);
    });
  }
  test("an invalid header is 400 and the message names the header", async () => {
    for (const length of ["-1", "1.5", "0x10", "many", "9".repeat(16)]) {
      const answer = await spend({ authorization: "Bearer right", "x-some-length": length });
      assert.equal(answer.status, 400, length);
      assert.match(answer.body, /header \\"X-Some-Length\\": must be a number of bytes/);
    }
  });
  test("no log line contains the token", async () => {
    await spend({ authorization: "Bearer the-secret-token" });
    assert.doesNotMatch(JSON.stringify(face.log), /the-secret-token/);
    assert.ok(face.log.length > 0);
  });
});

describe("a caller that waits for 100 Continue", () => {
  const ask = (length: number) =>
    `PUT /things/a HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n` +
    "Connection: close\r\nExpect: 100-continue\r\n\r\n";

  test("is refused without 100 Continue, and the connection is closed", async () => {
    const text = await sendRaw(face.port, ask(2_000_000));
    assert.match(text, /^HTTP\/1\.1 413 /);
    assert.match(text, /Connection: close/i);
  });
  test("gets 100 Continue when the body is wanted", async () => {
    const socket = connect({ host: "127.0.0.1", port: face.port });
    const body = '{"size":1}';
    socket.write(ask(body.length));
    socket.once("data", (chunk) => {
      assert.match(chunk.toString(), /^HTTP\/1\.1 100 /);
      socket.write(body);
    });
    assert.match(await collect(socket), /HTTP\/1\.1 201 /);
  });
});
