// Cookies, tokens, hosts and sites that must be refused (docs/reference/http.md#cross-site, docs/reference/http.md#service-tokens).

import assert from "node:assert/strict";
import { test } from "node:test";
import { assertRefused, assertSecured, parseResponse, sendBytes, sendRequest } from "../raw-request.ts";
import { cookieOf, player, type StackFixture, serverName } from "../stack-fixture.ts";

const me = "/api/v1/me";
const list = "/api/v1/servers";
const forged = `svc_session=${"A".repeat(43)}`;
const invalid = { status: 401, code: "unauthorized", says: /^invalid session: / };

export function checkCookies(fixture: () => StackFixture): void {
  test("without a cookie a session's operation is 401", async () => {
    const wanted = { status: 401, code: "unauthorized", says: /sign in/ };
    for (const cookie of [undefined, "", "other=1", `SVC_SESSION=${"A".repeat(43)}`]) {
      assertRefused(await fixture().withCookie(cookie, { path: me }), wanted, String(cookie));
    }
  });
  test("a forged or malformed cookie is 401 invalid session", async () => {
    const values = ["", "A", "A".repeat(42), "A".repeat(44), "A".repeat(8_000), `"${"A".repeat(43)}"`];
    const more = [`${"A".repeat(42)}%`, `${"A".repeat(42)} `, "../../../etc/passwd", "' or 1=1 --"];
    assertRefused(await fixture().withCookie(forged, { path: me }), invalid);
    for (const value of [...values, ...more]) {
      assertRefused(await fixture().withCookie(`svc_session=${value}`, { path: me }), invalid, value);
    }
  });
  test("two session cookies are 401 even when one is good", async () => {
    const good = await fixture().insertSession("user");
    const headers = { host: fixture().panelHost };
    assert.equal((await fixture().withCookie(good, { path: me, headers })).status, 200);
    for (const pair of [`${good}; ${forged}`, `${forged}; ${good}`, `${good}; ${good}`]) {
      assertRefused(await fixture().withCookie(pair, { path: me, headers }), invalid);
    }
  });
  test("an expired session is 401", async () => {
    const cookie = await fixture().insertSession("user", -1_000);
    assertRefused(
      await fixture().withCookie(cookie, { path: me, headers: { host: fixture().panelHost } }),
      invalid,
    );
  });
  test("a session is 401 right after signing out, and signing out again succeeds", async () => {
    const cookie = await fixture().insertSession("user");
    const headers = { host: fixture().panelHost };
    const logout = { method: "POST", path: "/api/v1/auth/logout", headers };
    assert.equal((await fixture().withCookie(cookie, { path: me, headers })).status, 200);
    const left = await fixture().withCookie(cookie, logout);
    assert.equal(left.status, 200, left.text);
    assert.equal(cookieOf(left), "svc_session=");
    assertRefused(await fixture().withCookie(cookie, { path: me, headers }), invalid);
    assert.equal((await fixture().withCookie(cookie, logout)).status, 200);
  });
  test("a session that another one revoked is 401", async () => {
    const cookie = await fixture().insertSession("user");
    const headers = { host: fixture().panelHost };
    const listed = await fixture().withCookie(cookie, { path: "/api/v1/account/sessions", headers });
    const { sessions } = JSON.parse(listed.text) as { sessions: { token_hash: string }[] };
    const path = `/api/v1/account/sessions/${sessions[0]?.token_hash}`;
    assert.equal((await fixture().withCookie(cookie, { method: "DELETE", path, headers })).status, 200);
    assertRefused(await fixture().withCookie(cookie, { path: me, headers }), invalid);
  });
  test("a malformed or foreign session hash is 404 and ends nothing", async () => {
    const stranger = await fixture().insertSession("user");
    const headers = { host: fixture().panelHost };
    for (const hash of ["x", "%2e%2e", "0".repeat(64)]) {
      const path = `/api/v1/account/sessions/${hash}`;
      const reply = await fixture().withCookie(stranger, { method: "DELETE", path, headers });
      assertRefused(reply, { status: 404, code: "session_not_found", says: /does not exist/ }, hash);
    }
  });
}

export function checkHosts(fixture: () => StackFixture): void {
  const forbidden = { status: 403, code: "forbidden", says: /not allowed/ };
  test("staff routes are 403 off the operator console host, for staff and players alike", async () => {
    const admin = await fixture().insertSession("admin");
    const user = await fixture().insertSession("user");
    const hosts = [fixture().panelHost, "127.0.0.1", "localhost", `${fixture().adminHost}.evil.example`];
    for (const host of hosts) {
      const headers = { host };
      const json = { name: "fine", subdomain: "fine" };
      for (const cookie of [admin, user]) {
        assertRefused(
          await fixture().withCookie(cookie, { path: "/api/v1/fleet", headers }),
          forbidden,
          host,
        );
        const create = { method: "POST", path: list, json, headers };
        assertRefused(await fixture().withCookie(cookie, create), forbidden, host);
      }
      assertRefused(await fixture().asOwner({ path: "/api/v1/fleet", headers }), forbidden, host);
    }
  });
  test("a player's session on the operator console host is 403 everywhere but at signing out", async () => {
    const user = await fixture().insertSession("user");
    const wake = `/api/v1/servers/${serverName}/wake`;
    assertRefused(await fixture().withCookie(user, { path: me }), forbidden);
    assertRefused(await fixture().withCookie(user, { path: "/api/v1/account/sessions" }), forbidden);
    assertRefused(await fixture().withCookie(user, { method: "POST", path: wake }), forbidden);
    const left = await fixture().withCookie(user, { method: "POST", path: "/api/v1/auth/logout" });
    assert.equal(left.status, 200, left.text);
  });
  test("the operator console host is recognised in any spelling", async () => {
    const { port } = new URL(fixture().stack.file().external_base_url);
    for (const host of [
      fixture().adminHost.toUpperCase(),
      `${fixture().adminHost}.`,
      `${fixture().adminHost}:${port}`,
    ]) {
      const reply = await fixture().asOwner({ path: "/api/v1/fleet", headers: { host } });
      assert.equal(reply.status, 200, `${host}: ${reply.text}`);
      assertSecured(reply, host);
    }
  });
  test("no Host, two of them or a malformed one is 400 on both faces", async () => {
    const wanted = { status: 400, code: "bad_request", says: /exactly one well-formed Host header/ };
    const heads = ["", "Host: a\r\nHost: b\r\n", "Host: a\r\nhost: a\r\n", "Host: \r\n", "Host: a/b\r\n"];
    for (const face of ["internal", "external"] as const) {
      for (const head of [...heads, "Host: user@a\r\n", "Host: a, b\r\n", "Host: a:port\r\n"]) {
        const bytes = `GET /healthz HTTP/1.1\r\n${head}Connection: close\r\n\r\n`;
        assertRefused(
          parseResponse(await sendBytes(fixture().port(face), bytes)),
          wanted,
          JSON.stringify(head),
        );
      }
    }
  });
}

export function checkTokens(fixture: () => StackFixture): void {
  const unauthorized = { status: 401, code: "unauthorized", says: /service token/ };
  const wrongCaller = { status: 403, code: "wrong_caller", says: /another|may not use/ };
  test("a missing, empty, wrong or truncated token is 401", async () => {
    const { velocity } = fixture().stack.file().tokens;
    const bad = [undefined, "", "Bearer", "Bearer ", "Bearer  ", "Bearer undefined", "Bearer null"];
    const near = [velocity, `Basic ${velocity}`, `Bearer ${velocity}x`, `Bearer ${velocity.slice(1)}`];
    for (const authorization of [
      ...bad,
      ...near,
      `Bearer ${velocity} ${velocity}`,
      `Bearer ${"x".repeat(8_000)}`,
    ]) {
      const headers = { host: "a", ...(authorization === undefined ? {} : { authorization }) };
      const reply = await sendRequest(fixture().port("internal"), { path: list, headers });
      assertRefused(reply, unauthorized, String(authorization));
    }
  });
  test("a genuine token of another caller is 403 wrong_caller at every operation it may not use", async () => {
    const { tokens } = fixture().stack.file();
    for (const caller of ["limbo", "build", "ops"] as const) {
      const headers = { host: "a", authorization: `Bearer ${tokens[caller]}` };
      const json = { mc_uuid: player };
      const server = `/api/v1/internal/servers/${serverName}`;
      for (const question of [
        { path: list },
        { path: `${server}/status` },
        { method: "POST", path: `${server}/wake`, json },
        { method: "POST", path: `${server}/join-event`, json },
        { method: "POST", path: `${server}/ready` },
      ]) {
        const reply = await sendRequest(fixture().port("internal"), { ...question, headers });
        assertRefused(reply, wrongCaller, `${caller} ${question.path}`);
      }
    }
  });
  test("a service token has no effect on the external face, a session none on the internal", async () => {
    const { velocity } = fixture().stack.file().tokens;
    const headers = { authorization: `Bearer ${velocity}` };
    const outside = await fixture().withCookie(undefined, { path: me, headers });
    assertRefused(outside, { status: 401, code: "unauthorized", says: /sign in/ });
    const cookie = await fixture().insertSession("owner");
    const inside = await sendRequest(fixture().port("internal"), {
      path: list,
      headers: { host: "a", cookie },
    });
    assertRefused(inside, unauthorized);
  });
  test("the credential is checked before the body", async () => {
    const path = `/api/v1/internal/servers/${serverName}/wake`;
    const question = { method: "POST", path, headers: { host: "a", "content-type": "application/json" } };
    assertRefused(await sendRequest(fixture().port("internal"), { ...question, text: "{" }), unauthorized);
  });
}

export function checkSites(fixture: () => StackFixture): void {
  const crossSite = { status: 403, code: "cross_site", says: /own pages/ };
  const changes: [method: string, path: string][] = [
    ["POST", "/api/v1/servers"],
    ["POST", "/api/v1/auth/logout"],
    ["POST", "/api/v1/auth/setup/redeem"],
    ["PATCH", `/api/v1/servers/${serverName}`],
    ["DELETE", `/api/v1/account/sessions/${"0".repeat(64)}`],
  ];
  const foreign = (host: string): Record<string, string>[] => [
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { origin: "https://evil.example" },
    { origin: "null" },
    { origin: "" },
    { origin: `https://${host}.evil.example` },
    { origin: `https://evil.example/${host}` },
    { origin: "https://console.svc.localhost" },
    { origin: `http://${host}`, "sec-fetch-site": "cross-site" },
    { origin: "https://evil.example", "sec-fetch-site": "same-origin" },
  ];
  test("a change from another site is 403 cross_site before authentication", async () => {
    for (const [method, path] of changes) {
      for (const headers of foreign(fixture().adminHost)) {
        const about = `${method} ${path} ${JSON.stringify(headers)}`;
        assertRefused(await fixture().asOwner({ method, path, headers, json: {} }), crossSite, about);
        assertRefused(
          await fixture().withCookie(undefined, { method, path, headers, json: {} }),
          crossSite,
          about,
        );
      }
    }
    const wake = `/api/v1/internal/servers/${serverName}/wake`;
    const headers = { origin: "https://evil.example" };
    assertRefused(await fixture().asProxy({ method: "POST", path: wake, headers, json: {} }), crossSite);
  });
  test("requests of this site's own pages and of callers other than browsers are accepted", async () => {
    const own = [{}, { "sec-fetch-site": "same-origin" }, { "sec-fetch-site": "none" }];
    for (const headers of [...own, { origin: `http://${fixture().adminHost}` }]) {
      const question = { method: "PATCH", path: `/api/v1/servers/${serverName}`, headers };
      const reply = await fixture().asOwner({ ...question, json: { displayName: "Survival" } });
      assert.equal(reply.status, 200, `${JSON.stringify(headers)}: ${reply.text}`);
    }
  });
  test("reading from another site is not a change", async () => {
    const reply = await fixture().asOwner({ path: me, headers: { "sec-fetch-site": "cross-site" } });
    assert.equal(reply.status, 200, reply.text);
  });
}
