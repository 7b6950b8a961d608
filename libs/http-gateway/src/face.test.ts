import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import * as contracts from "./testing/contracts.ts";
import { type GatewayFixture, type RunningFace, startGatewayFixture } from "./testing/gateway-fixture.ts";
import { parseAnswer, send, sendRaw } from "./testing/raw-request.ts";

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
  fixture.owner.serve(contracts.write, (context, input) => {
    if (input.id === "missing") throw context.fault("not_found");
    if (input.id === "cold") throw context.fault("cooldown", { retryAfterSeconds: 11.2 });
    if (input.id === "down") throw context.fault("unavailable");
    if (input.id === "broken") throw new Error("secret text");
    return { got: input };
  });
  fixture.owner.serve(contracts.touch, () => null);
  face = await fixture.startFace();
});
after(() => fixture.close());

const json = { "content-type": "application/json" };
const put = (path: string, body: string, headers: Record<string, string> = json) =>
  send(face.port, {
    method: "PUT",
    path,
    headers: { ...headers, "content-length": String(Buffer.byteLength(body)) },
    body,
  });
const code = (answer: { json: () => Record<string, unknown> }) =>
  (answer.json()["error"] as Record<string, unknown>)["code"];
const message = (answer: { json: () => Record<string, unknown> }) =>
  String((answer.json()["error"] as Record<string, unknown>)["message"]);

const guards = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "content-security-policy": "default-src 'none'",
};
function assertGuarded(headers: Record<string, string>) {
  for (const [name, value] of Object.entries(guards)) assert.equal(headers[name], value, name);
  assert.match(headers["x-request-id"] ?? "", /^[A-Za-z0-9._-]{1,128}$/);
}

describe("headers of every response", () => {
  const cases: [string, () => Promise<{ status: number; headers: Record<string, string> }>, number][] = [
    ["a success", () => send(face.port, { path: "/open" }), 200],
    ["a probe", () => send(face.port, { path: "/healthz" }), 200],
    ["204", () => send(face.port, { path: "/things/a/touch", method: "POST" }), 204],
    ["404", () => send(face.port, { path: "/nowhere" }), 404],
    ["405", () => send(face.port, { path: "/open", method: "DELETE" }), 405],
    ["a bad percent escape", () => send(face.port, { path: "/things/%zz" }), 400],
    [
      "a parameter over the router's length",
      () => send(face.port, { path: `/things/${"a".repeat(2_000)}` }),
      404,
    ],
    ["malformed HTTP", async () => parseAnswer(await sendRaw(face.port, "GARBAGE\r\n\r\n")), 400],
    [
      "headers over 16 KiB",
      async () =>
        parseAnswer(
          await sendRaw(face.port, `GET / HTTP/1.1\r\nHost: a\r\nX: ${"a".repeat(20_000)}\r\n\r\n`),
        ),
      431,
    ],
    ["a missing Host", async () => parseAnswer(await sendRaw(face.port, "GET /open HTTP/1.1\r\n\r\n")), 400],
    [
      "an expectation that nobody knows",
      () => send(face.port, { path: "/open", headers: { expect: "the-unexpected" } }),
      200,
    ],
    [
      "CONNECT",
      async () => parseAnswer(await sendRaw(face.port, "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n")),
      405,
    ],
  ];
  for (const [what, ask, status] of cases) {
    test(`${what} has the security headers and a request id`, async () => {
      const answer = await ask();
      assert.equal(answer.status, status);
      assertGuarded(answer.headers);
      assert.equal(answer.headers["strict-transport-security"], undefined);
    });
  }

  test("a well-formed request id is kept, and the owner sees it", async () => {
    const answer = await send(face.port, { path: "/open", headers: { "x-request-id": "abc.D_1-2" } });
    assert.equal(answer.headers["x-request-id"], "abc.D_1-2");
    assert.equal(answer.json()["request_id"], "abc.D_1-2");
  });
  for (const id of ["a b", "a".repeat(129), "ä", "{}"]) {
    test(`a malformed request id ${JSON.stringify(id.slice(0, 8))} is replaced`, async () => {
      const answer = await send(face.port, {
        path: "/open",
        headers: { "x-request-id": Buffer.from(id).toString("latin1") },
      });
      assert.notEqual(answer.headers["x-request-id"], id);
      assertGuarded(answer.headers);
    });
  }
  test("Strict-Transport-Security is added behind an edge that received https", async () => {
    const answer = await send(face.port, { path: "/nowhere", headers: { "x-forwarded-proto": "https" } });
    assert.match(answer.headers["strict-transport-security"] ?? "", /^max-age=\d+/);
  });
});

describe("paths and methods", () => {
  test("a path under another method is 405 with its methods in Allow", async () => {
    const answer = await send(face.port, { path: "/things/a", method: "DELETE" });
    assert.equal(answer.status, 405);
    assert.equal(answer.headers["allow"], "GET, HEAD, PUT");
    assert.equal(code(answer), "method_not_allowed");
  });
  test("a method that no operation has is 405 too", async () => {
    assert.equal((await send(face.port, { path: "/open", method: "PROPFIND" })).status, 405);
  });
  test("a trailing slash is another path", async () => {
    assert.equal(code(await send(face.port, { path: "/open/" })), "not_found");
  });
  test("HEAD answers as GET does, without the body", async () => {
    const answer = await send(face.port, { path: "/open", method: "HEAD" });
    assert.equal(answer.status, 200);
    assert.equal(answer.body, "");
    assert.ok(Number(answer.headers["content-length"]) > 10);
  });
  test("a download and an event stream do not answer HEAD", async () => {
    assert.equal((await send(face.port, { path: "/blobs/a", method: "HEAD" })).status, 405);
    assert.equal((await send(face.port, { path: "/things/a/console", method: "HEAD" })).status, 405);
  });
  test("an operation of the other face is not served", async () => {
    assert.equal((await send(face.port, { path: "/service" })).status, 404);
    assert.equal((await send(face.port, { path: "/metrics" })).status, 404);
  });
  test("the error envelope repeats the request id", async () => {
    const answer = await send(face.port, { path: "/nowhere" });
    assert.deepEqual(answer.json(), {
      error: {
        code: "not_found",
        message: "Not found.",
        request_id: answer.headers["x-request-id"],
      },
    });
  });
});

describe("changes from other sites", () => {
  const host = "panel.test:8443";
  const change = (headers: Record<string, string>) =>
    send(face.port, { path: "/things/a/touch", method: "POST", headers: { host, ...headers } });
  const refused: Record<string, string>[] = [
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "cross-site" },
    { origin: "https://evil.test" },
    { origin: "https://panel.test" },
    { origin: "https://panel.test:8444" },
    { origin: "null" },
    { origin: "file://panel.test:8443" },
    { origin: "nonsense" },
  ];
  for (const headers of refused) {
    test(`${JSON.stringify(headers)} is refused as cross_site`, async () => {
      const answer = await change(headers);
      assert.equal(answer.status, 403);
      assert.equal(code(answer), "cross_site");
    });
  }
  const accepted: Record<string, string>[] = [
    {},
    { origin: "https://panel.test:8443" },
    { origin: "https://PANEL.test:8443", "sec-fetch-site": "same-origin" },
    { "sec-fetch-site": "none" },
    { host: "panel.test:443", origin: "https://panel.test" },
  ];
  for (const headers of accepted) {
    test(`${JSON.stringify(headers)} passes`, async () => assert.equal((await change(headers)).status, 204));
  }
  test("reading is not a change", async () => {
    const answer = await send(face.port, { path: "/open", headers: { origin: "https://evil.test" } });
    assert.equal(answer.status, 200);
  });
});

describe("JSON bodies", () => {
  test("parameters, query and body reach the owner as one flat input", async () => {
    const answer = await put("/things/a%20b?loud=true", '{"size":3}', {
      "content-type": "application/json; charset=utf-8",
    });
    assert.equal(answer.status, 201);
    assert.deepEqual(answer.json(), { got: { id: "a b", loud: "true", size: 3 } });
  });
  test("an optional body may be missing", async () => {
    assert.equal((await send(face.port, { path: "/things/a/touch", method: "POST" })).status, 204);
  });
  const bad: [string, string, string, RegExp][] = [
    ["an unknown field", "/things/a", '{"size":3,"colour":"red"}', /unknown field "colour"/],
    ["a wrong type", "/things/a", '{"size":"3"}', /"size": expected number, received string/],
    ["a wrong type inside a list", "/things/a", '{"size":3,"tags":["a",1]}', /"tags.1": expected string/],
    ["a missing field", "/things/a", "{}", /"size": is required/],
    ["an unknown query parameter", "/things/a?x=1", '{"size":3}', /unknown query parameter "x"/],
    [
      "a query parameter sent twice",
      "/things/a?loud=true&loud=false",
      '{"size":3}',
      /query parameter "loud"/,
    ],
    ["malformed JSON", "/things/a", '{"size":', /not valid JSON/],
    ["a list instead of an object", "/things/a", "[]", /body: expected object/],
    ["no body", "/things/a", "", /a JSON body is required/],
    ["a __proto__ key", "/things/a", '{"size":3,"__proto__":{"x":1}}', /__proto__/],
    [
      "lists in lists",
      "/things/a",
      `{"size":3,"tags":${"[".repeat(5_000)}${"]".repeat(5_000)}}`,
      /nested more than 100 deep/,
    ],
    ["a hidden __proto__ key", "/things/a", '{"size":3,"tags":[],"\\u005f_proto__":{}}', /__proto__/],
    ["bytes that are not UTF-8", "/things/a", "\u00ff", /not UTF-8/],
  ];
  for (const [what, path, body, expected] of bad) {
    test(`${what} is 400 and the message says so`, async () => {
      const bytes = what.startsWith("bytes") ? Buffer.from([0x22, 0xff, 0x22]).toString("latin1") : body;
      const answer = what.startsWith("bytes")
        ? parseAnswer(
            await sendRaw(
              face.port,
              Buffer.concat([
                Buffer.from(
                  "PUT /things/a HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 3\r\n\r\n",
                ),
                Buffer.from(bytes, "latin1"),
              ]),
            ),
          )
        : await put(path, body);
      assert.equal(answer.status, 400, answer.body);
      const { error } = JSON.parse(answer.body);
      assert.equal(error.code, "bad_request");
      assert.match(error.message, expected);
    });
  }
  test("a declared body over 1 MiB is 413 before it is sent", async () => {
    const text = await sendRaw(
      face.port,
      "PUT /things/a HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 1048577\r\n\r\n",
    );
    assert.match(text, /^HTTP\/1.1 413/);
    assert.match(text, /too_large/);
  });
  test("a body that grows over 1 MiB is 413", async () => {
    const answer = await send(face.port, {
      method: "PUT",
      path: "/things/a",
      headers: { ...json, "transfer-encoding": "chunked" },
      body: `{"size":3,"tags":["${"a".repeat(1024 * 1024)}"]}`,
    });
    assert.equal(answer.status, 413);
  });
  test("exactly 1 MiB is read", async () => {
    const body = '{"size":3}'.padEnd(1024 * 1024, " ");
    assert.equal((await put("/things/a", body)).status, 201);
  });
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""]) {
    test(`content type ${JSON.stringify(type)} is 415`, async () => {
      const answer = await put("/things/a", '{"size":3}', type === "" ? {} : { "content-type": type });
      assert.equal(answer.status, 415);
      assert.equal(code(answer), "unsupported_media_type");
    });
  }
  test("a body sent to an operation without one is ignored", async () => {
    const answer = await send(face.port, {
      method: "POST",
      path: "/leave",
      headers: { "content-type": "text/plain" },
      body: "x",
    });
    assert.notEqual(answer.status, 415);
  });
});

describe("faults of the owner", () => {
  test("status, code and message are those of the owner", async () => {
    const answer = await put("/things/missing", '{"size":1}');
    assert.equal(answer.status, 404);
    assert.equal(code(answer), "not_found");
    assert.equal(answer.headers["retry-after"], undefined);
  });
  test("Retry-After is whole seconds, rounded up", async () => {
    assert.equal((await put("/things/cold", '{"size":1}')).headers["retry-after"], "12");
  });
  test("every 503 says when to come back", async () => {
    const answer = await put("/things/down", '{"size":1}');
    assert.equal(answer.status, 503);
    assert.equal(answer.headers["retry-after"], "1");
  });
  test("an unexpected failure is 500 internal and its text stays inside", async () => {
    const answer = await put("/things/broken", '{"size":1}');
    assert.equal(answer.status, 500);
    assert.equal(code(answer), "internal");
    assert.doesNotMatch(message(answer), /secret/);
  });
  test("an owner that is not there is 503 unavailable", async () => {
    const answer = await send(face.port, { path: "/collected" });
    assert.equal(answer.status, 503);
    assert.equal(code(answer), "unavailable");
  });
});

describe("log and metrics", () => {
  test("one line tells a request without its query", async () => {
    const own = await fixture.startFace();
    const answer = await send(own.port, { path: "/open?token=secret", method: "GET" });
    assert.equal(answer.status, 400);
    await send(own.port, { path: "/healthz" });
    const line = own.log.find((one) => one["request_id"] === answer.headers["x-request-id"]);
    assert.ok(line);
    assert.deepEqual(
      { ...line, duration_ms: 0, time: 0, pid: 0, hostname: "" },
      {
        ...{ level: 30, time: 0, pid: 0, hostname: "", msg: "request" },
        ...{ face: "external", method: "GET", route: "/open", path: "/open", status: 400, duration_ms: 0 },
        ...{ bytes: answer.body.length, request_id: answer.headers["x-request-id"], principal: "" },
      },
    );
    assert.ok(!own.log.some((one) => one["route"] === "/healthz"), "a successful probe is not logged");
  });
  test("requests count by route pattern, and unknown ones as unmatched", async () => {
    const own = await fixture.startFace();
    await send(own.port, { path: "/things/a/touch", method: "POST" });
    await send(own.port, { path: "/nowhere" });
    await send(own.port, { path: "/nowhere", method: "PROPFIND" });
    await sendRaw(own.port, "GARBAGE\r\n\r\n");
    const text = await own.registry.metrics();
    assert.match(
      text,
      /svc_http_requests_total\{face="external",method="POST",route="\/things\/\{id\}\/touch",code="204"\} 1/,
    );
    assert.match(
      text,
      /svc_http_requests_total\{face="external",method="GET",route="unmatched",code="404"\} 1/,
    );
    assert.match(
      text,
      /svc_http_requests_total\{face="external",method="other",route="unmatched",code="404"\} 1/,
    );
    assert.match(
      text,
      /svc_http_requests_total\{face="external",method="other",route="unmatched",code="400"\} 1/,
    );
    assert.match(text, /svc_http_request_duration_seconds_count\{face="external",route="unmatched"\} 2/);
  });
  test("the internal face serves its metrics, without a token", async () => {
    const internal = await fixture.startFace({ face: "internal" });
    const answer = await send(internal.port, { path: "/metrics" });
    assert.equal(answer.status, 200);
    assert.match(answer.headers["content-type"] ?? "", /^text\/plain/);
    assert.match(answer.body, /svc_build_info/);
  });
  test("a trace is passed on and the client's own agent arrives as plain text", async () => {
    const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
    const answer = await send(face.port, {
      path: "/open",
      headers: { traceparent, "user-agent": `x\u00e9${"y".repeat(300)}` },
    });
    assert.equal(String(answer.json()["traceparent"]).slice(3, 35), "a".repeat(32));
    const client = answer.json()["client"] as Record<string, string>;
    assert.match(client["userAgent"] ?? "", /^x\?y{254}$/);
    assert.equal(client["address"], "127.0.0.1");
  });
});
