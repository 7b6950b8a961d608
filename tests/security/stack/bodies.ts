// Bodies that must be refused (docs/reference/http.md#bodies).

import assert from "node:assert/strict";
import { test } from "node:test";
import { assertRefused, parseResponse, sendBytes, sendRequest } from "../raw-request.ts";
import { player, type StackFixture, serverName } from "../stack-fixture.ts";

const wake = `/api/v1/internal/servers/${serverName}/wake`;
const joinEvent = `/api/v1/internal/servers/${serverName}/join-event`;
const mebibyte = 1024 * 1024;
const json = { "content-type": "application/json" };

const badBodies: [what: string, text: string | Buffer, says: RegExp][] = [
  ["an unknown field", JSON.stringify({ mc_uuid: player, force: true }), /unknown field "force"/],
  ["a field of the wrong type", '{"mc_uuid":5}', /"mc_uuid".*string/],
  ["a field that is null", '{"mc_uuid":null}', /"mc_uuid"/],
  ["a missing field", "{}", /"mc_uuid": is required/],
  ["a list", "[]", /body/],
  ["null", "null", /body/],
  ["a text", '"wake"', /body/],
  ["half an object", '{"mc_uuid":', /not valid JSON/],
  ["two objects", '{"mc_uuid":"a"}{"mc_uuid":"b"}', /not valid JSON/],
  ["a comment", '{/* */"mc_uuid":"a"}', /not valid JSON/],
  ["bytes that are not UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]), /UTF-8/],
  ["a key __proto__", `{"mc_uuid":"${player}","__proto__":{"admin":true}}`, /__proto__/],
  ["a hidden key __proto__", `{"mc_uuid":"${player}","\\u005f_proto__":{}}`, /__proto__/],
  ["no bytes", "", /JSON body is required/],
  ["nesting 100,000 deep", "[".repeat(100_000), /nested more than 100 deep/],
];

const badUuids = [
  "",
  "x",
  player.slice(1),
  `${player}0`,
  `{${player}}`,
  `urn:uuid:${player}`,
  player.replace("0", "g"),
  player.replace("0", "٠"),
  `${player}' or '1'='1`,
  `${player}\u0000`,
  "../../etc/passwd",
  "a".repeat(10_000),
];

export function checkBodies(fixture: () => StackFixture): void {
  for (const [what, text, says] of badBodies) {
    test(`a body of ${what} is 400 with a message that says so`, async () => {
      const reply = await fixture().asProxy({ method: "POST", path: wake, headers: json, text });
      assertRefused(reply, { status: 400, code: "bad_request", says });
    });
  }
  test("a malformed player id is 400 at wake and at join-event, and names the field", async () => {
    for (const path of [wake, joinEvent]) {
      for (const mc_uuid of badUuids) {
        const reply = await fixture().asProxy({ method: "POST", path, json: { mc_uuid } });
        assertRefused(reply, { status: 400, code: "bad_request", says: /"mc_uuid"/ }, `${path} ${mc_uuid}`);
      }
    }
  });
  test("a body of another content type, or of none, is 415", async () => {
    const text = JSON.stringify({ mc_uuid: player });
    const types = [
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data",
      "",
      "json",
      "a;b",
      "application/json/x",
    ];
    const wanted = { status: 415, code: "unsupported_media_type", says: /application\/json/ };
    for (const type of types) {
      const reply = await fixture().asProxy({
        method: "POST",
        path: wake,
        text,
        headers: { "content-type": type },
      });
      assertRefused(reply, wanted, `content type ${JSON.stringify(type)}`);
    }
    assertRefused(await fixture().asProxy({ method: "POST", path: wake, text }), wanted);
    const nowhere = await fixture().asProxy({
      method: "POST",
      path: "/nowhere",
      text,
      headers: { "content-type": "" },
    });
    assertRefused(nowhere, { status: 404, code: "not_found", says: /./ });
  });
  checkSizes(fixture);
}

function checkSizes(fixture: () => StackFixture): void {
  const tooLarge = { status: 413, code: "too_large", says: /1048576 bytes/ };
  const head = () => {
    const { velocity } = fixture().stack.file().tokens;
    return `POST ${wake} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${velocity}\r\nContent-Type: application/json\r\n`;
  };
  test("a body declared over 1 MiB is 413 before any of it is read", async () => {
    const raw = await sendBytes(
      fixture().port("internal"),
      `${head()}Content-Length: ${mebibyte + 1}\r\n\r\n`,
    );
    assertRefused(parseResponse(raw), tooLarge);
  });
  test("a chunked body that grows over 1 MiB is 413", async () => {
    const reply = await fixture().asProxy({
      method: "POST",
      path: wake,
      headers: { ...json, "transfer-encoding": "chunked" },
      text: `{"mc_uuid":"${" ".repeat(mebibyte)}"}`,
    });
    assertRefused(reply, tooLarge);
  });
  test("a body of 1 MiB is read", async () => {
    const start = `{"mc_uuid":"`;
    const text = `${start}${"x".repeat(mebibyte - start.length - 2)}"}`;
    const reply = await fixture().asProxy({ method: "POST", path: wake, headers: json, text });
    assertRefused(reply, { status: 400, code: "bad_request", says: /"mc_uuid"/ });
  });
  test("a body that stops arriving closes its connection, and the face goes on", async () => {
    const started = Date.now();
    assert.equal(
      await sendBytes(fixture().port("internal"), `${head()}Content-Length: 100\r\n\r\n{"mc_`),
      "",
    );
    assert.ok(Date.now() - started < 20_000, "it was closed by the least rate, not by chance");
    const healthy = await sendRequest(fixture().port("internal"), { path: "/healthz" });
    assert.equal(healthy.status, 200);
  });
  test("a head that stops arriving is 408", async () => {
    const reply = parseResponse(
      await sendBytes(fixture().port("external"), "GET /healthz HTTP/1.1\r\nHost: a\r\n"),
    );
    assertRefused(reply, { status: 408, code: "bad_request", says: /took too long/ });
  });
  test("a head over 16 KiB is 431", async () => {
    const raw = await sendBytes(
      fixture().port("external"),
      `GET /healthz HTTP/1.1\r\nHost: a\r\nX: ${"a".repeat(20_000)}\r\n\r\n`,
    );
    assertRefused(parseResponse(raw), { status: 431, code: "bad_request", says: /16 KiB/ });
  });
}
