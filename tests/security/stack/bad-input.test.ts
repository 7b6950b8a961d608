// What a face must refuse, tested on the real faces of a whole stack.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { until } from "@svc/local-stack/testing";
import { checkNames } from "../names.ts";
import { assertRefused, assertSecured, parseResponse, sendBytes } from "../raw-request.ts";
import { type StackFixture, serverName, startStackFixture } from "../stack-fixture.ts";
import { checkBodies } from "./bodies.ts";
import { checkCookies, checkHosts, checkSites, checkTokens } from "./credentials.ts";
import { checkSpecs } from "./specs.ts";

let opened: StackFixture | undefined;
const fixture = (): StackFixture => {
  assert.ok(opened, "the stack did not start");
  return opened;
};
before(async () => {
  // The spans of slow callers are 30 s and 10 s; their rule is the same for a shorter one.
  opened = await startStackFixture(["--set", "gateway.body_grace=1s", "--set", "gateway.headers_timeout=2s"]);
});
after(() => opened?.stop());

describe("a fresh installation", () => {
  test("the setup link signs the owner in until a sign-in method is verified", async () => {
    const first = await fixture().redeem();
    assert.equal(first.status, 200, first.text);
    const attributes = String(first.headers["set-cookie"]);
    for (const wanted of [/; HttpOnly/, /; Secure/, /; SameSite=Lax/, /; Path=\//]) {
      assert.match(attributes, wanted);
    }
    assert.doesNotMatch(attributes, /Domain/i);
    assert.equal((await fixture().redeem()).status, 200);
  });
  test("an owner without a sign-in method stays in setup", async () => {
    const locked = { status: 403, code: "setup_required", says: /verify an e-mail address or add a passkey/ };
    const create = { method: "POST", path: "/api/v1/servers", json: { name: "fine", subdomain: "fine" } };
    assertRefused(await fixture().asOwner(create), locked);
    for (const path of ["/api/v1/fleet", "/api/v1/account/sessions"]) {
      assertRefused(await fixture().asOwner({ path }), locked, path);
    }
    for (const path of ["/api/v1/me", "/api/v1/auth/setup/status"]) {
      assert.equal((await fixture().asOwner({ path })).status, 200, path);
    }
  });
  test("a malformed e-mail address is 400, and the message names the field", async () => {
    for (const email of [
      "",
      "a",
      "a@b",
      "a b@example.net",
      `${"a".repeat(300)}@example.net`,
      5,
      "a@b.c\r\nBcc: x@y.z",
    ]) {
      const reply = await fixture().asOwner({
        method: "POST",
        path: "/api/v1/account/email/start",
        json: { email },
      });
      assertRefused(reply, { status: 400, code: "bad_request", says: /"email"/ }, JSON.stringify(email));
    }
  });
  test("a mailed code works once, and a wrong one does not", async () => {
    const verify = (code: string) =>
      fixture().asOwner({ method: "POST", path: "/api/v1/account/email/verify", json: { code } });
    const invalid = { status: 400, code: "invalid_code", says: /ask for a new one/ };
    assertRefused(await verify("000000x"), invalid);
    const code = await fixture().leaveSetup();
    assertRefused(await verify(code), invalid);
    const spent = await fixture().redeem();
    const says = /setup link is unknown, used or expired/;
    assertRefused(spent, { status: 400, code: "setup_token_invalid", says });
    assert.equal(spent.headers["set-cookie"], undefined);
  });
  test("out of setup the owner creates a server", async () => {
    const json = { name: serverName, subdomain: serverName, autostartPolicy: "public" };
    const reply = await fixture().asOwner({ method: "POST", path: "/api/v1/servers", json });
    assert.equal(reply.status, 201, reply.text);
    assertSecured(reply, "create");
  });
});

describe("bodies", () => checkBodies(fixture));
describe("names and paths", () => checkNames(fixture));
describe("cookies", () => checkCookies(fixture));
describe("hosts", () => checkHosts(fixture));
describe("service tokens", () => checkTokens(fixture));
describe("other sites", () => checkSites(fixture));
describe("specs", () => checkSpecs(fixture));

describe("the request log", () => {
  const logLines = () => {
    const log = fixture()
      .stack.file()
      .processes.find(({ name }) => name.startsWith("gateway-external"))?.log;
    return readFileSync(log ?? "", "utf8")
      .trim()
      .split("\n");
  };
  test("no part of a request can forge a log line", async () => {
    const mark = "forged-by-a-caller";
    await sendBytes(
      fixture().port("external"),
      `GET /${mark}%0d%0a%7B"msg":"x"}\\,{"level":"fatal"} HTTP/1.1\r\nHost: a\r\nX-Request-Id: a"b\r\n` +
        'User-Agent: \t"}\r\nConnection: close\r\n\r\n',
    );
    await fixture().asOwner({
      path: `/${mark}/x`,
      headers: { "x-request-id": "a%0ab", cookie: `a="${mark}` },
    });
    await until(
      () => logLines().some((line) => line.includes(`/${mark}/x`)),
      10_000,
      "the lines of the requests",
    );
    const marked = logLines().filter((line) => line.includes(mark));
    for (const line of marked) {
      const entry = JSON.parse(line) as Record<string, unknown>;
      assert.equal(entry["msg"], "request", line);
      assert.equal(entry["route"], line.includes(`/${mark}/x`) ? "panel" : "unmatched", line);
      assert.match(String(entry["request_id"]), /^[A-Za-z0-9._-]{1,128}$/, line);
    }
    assert.equal(marked.length, 2, marked.join("\n"));
  });
  test("every log line is JSON, and none contains a cookie, a token or a code", async () => {
    const cookie = await fixture().insertSession("user");
    const { velocity } = fixture().stack.file().tokens;
    await fixture().withCookie(cookie, { path: "/api/v1/me", headers: { host: fixture().panelHost } });
    const files = fixture()
      .stack.file()
      .processes.filter(({ name }) => name.startsWith("gateway"));
    for (const { log } of files) {
      const text = readFileSync(log, "utf8");
      for (const line of text.trim().split("\n")) JSON.parse(line);
      for (const secret of [cookie.split("=")[1] ?? "", velocity]) assert.ok(!text.includes(secret), log);
    }
  });
  test("a well-formed request id is kept, any other is replaced", async () => {
    const keep = async (id: string) =>
      (await fixture().asOwner({ path: "/nowhere", headers: { "x-request-id": id } })).headers[
        "x-request-id"
      ];
    assert.equal(await keep("trace-1.a_B"), "trace-1.a_B");
    for (const id of ["", "a b", 'a"b', "a%0d%0aSet-Cookie:x", "a".repeat(129)]) {
      assert.notEqual(await keep(id), id);
    }
  });
  test("Strict-Transport-Security is sent only behind an edge that received https", async () => {
    const over = async (proto: string) =>
      (await fixture().asOwner({ path: "/nowhere", headers: { "x-forwarded-proto": proto } })).headers[
        "strict-transport-security"
      ];
    assert.match(String(await over("https")), /max-age=\d+/);
    assert.equal(await over("http"), undefined);
  });
  test("malformed HTTP is 400 with every security header", async () => {
    for (const bytes of [
      "\x16\x03\x01\x02\x00\x01\x00",
      "GET\r\n\r\n",
      "HELLO / HTTP/1.1\r\nHost: a\r\n\r\n",
    ]) {
      const reply = parseResponse(await sendBytes(fixture().port("internal"), bytes));
      assertRefused(
        reply,
        { status: 400, code: "bad_request", says: /not valid HTTP/ },
        JSON.stringify(bytes),
      );
    }
  });
});

// The last one: it spends the budget of this address.
describe("the sign-in budget", () => {
  test("signing in is 429 with Retry-After when the budget of the address is spent", async () => {
    const enter = () =>
      fixture().withCookie(undefined, {
        method: "POST",
        path: "/api/v1/auth/setup/redeem",
        json: { token: "wrong" },
      });
    for (let tries = 0; tries < 25; tries++) {
      const reply = await enter();
      if (reply.status === 429) {
        assertRefused(reply, { status: 429, code: "rate_limited", says: /Too many sign-in attempts/ });
        return;
      }
      assertRefused(reply, { status: 400, code: "setup_token_invalid", says: /setup link/ });
    }
    assert.fail("25 attempts were let in");
  });
  test("a spent budget does not affect existing sessions", async () => {
    assert.equal((await fixture().asOwner({ path: "/api/v1/me" })).status, 200);
  });
});
