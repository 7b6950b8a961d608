// Headers that imitate those of the mesh, and values that try to inject lines into rows, logs or messages.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { until } from "@svc/mesh/testing";
import { header } from "@svc/proto";
import { adminHost, type GatewayFixture, panelHost } from "./gateway-fixture.ts";
import { assertRefused, parseResponse, sendBytes, sendRequest } from "./raw-request.ts";
import { cookieOf } from "./stack-fixture.ts";

export function checkInjection(gateways: () => GatewayFixture): void {
  test("mesh headers from outside are ignored on both faces", async () => {
    const { userId, session } = await gateways().identity.person({
      role: "owner",
      email: "mesh@example.org",
    });
    const principal = JSON.stringify({
      ...{
        kind: "account",
        user_id: userId,
        username: "x",
        role: "owner",
        staff: true,
        setup: false,
        session,
      },
    });
    const caller = JSON.stringify({ kind: "caller", caller: "velocity" });
    const forged = (text: string) => ({
      ...Object.fromEntries(Object.values(header).map((name) => [name, "x"])),
      [header.principal]: text,
      [header.session]: JSON.stringify({ value: "v".repeat(43), expires_at: new Date().toISOString() }),
      traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01\u00ff`,
    });
    const outside = await gateways().visit({
      path: "/api/v1/users",
      headers: { ...forged(principal), host: adminHost },
    });
    assertRefused(outside, { status: 401, code: "unauthorized", says: /sign in/ });
    const inside = await sendRequest(gateways().port("internal"), {
      path: "/api/v1/internal/op-login/pending",
      headers: { ...forged(caller), host: "a" },
    });
    assertRefused(inside, { status: 401, code: "unauthorized", says: /service token/ });
    const door = await gateways().visit({
      path: "/api/v1/auth/op-login/status/none",
      headers: forged(principal),
    });
    assert.deepEqual([door.status, door.headers["set-cookie"]], [200, undefined]);
  });

  test("the user agent stays one printable line in the session and in the audit", async () => {
    const { identity, asProxy, visit } = gateways();
    const minted = await asProxy({
      method: "POST",
      path: "/api/v1/internal/account/link/code",
      json: { mc_uuid: randomUUID() },
    });
    const { code } = JSON.parse(minted.text) as { code: string };
    const headers = {
      "user-agent": `evil"}\t{"level":"fatal"}\u00e9${"x".repeat(600)}`,
      "accept-language": 'zh\t"}',
      "x-request-id": 'a"b',
    };
    const reply = await visit({ method: "POST", path: "/api/v1/auth/bind", json: { code }, headers });
    assert.equal(reply.status, 200, reply.text);
    const { user_id: userId } = JSON.parse(reply.text) as { user_id: string };
    const listed = await visit({ path: "/api/v1/account/sessions", cookie: cookieOf(reply) });
    const { sessions } = JSON.parse(listed.text) as { sessions: { user_agent: string; client_ip: string }[] };
    for (const { user_agent, client_ip } of sessions) {
      assert.match(user_agent, /^evil"\}[\x20-\x7e]{1,256}$/);
      assert.match(client_ip, /^10\.9\.\d+\.\d+$/);
    }
    const audited = () =>
      identity.database.admin(
        "select user_agent, client_ip::text, request_id from identity.audit_logs where actor_user_id = $1 and action = 'auth.bind.login'",
        [userId],
      );
    await until(async () => (await audited()).length === 1);
    const [entry] = await audited();
    assert.match(String(entry?.["user_agent"]), /^evil"\}[\x20-\x7e]{1,256}$/);
    assert.match(String(entry?.["request_id"]), /^[A-Za-z0-9._-]{1,128}$/);
  });

  test("a folded header or one with a bare line end is 400", async () => {
    for (const line of [
      "X-A: b\r\n Svc-Principal: x",
      "User-Agent: a\rb",
      "X-Request-Id: a\nSvc-Principal: x\rb",
      "Cookie: a=\u0000",
    ]) {
      const bytes = `GET /api/v1/me HTTP/1.1\r\nHost: ${panelHost}\r\n${line}\r\nConnection: close\r\n\r\n`;
      const reply = parseResponse(await sendBytes(gateways().port("bare"), bytes));
      assertRefused(
        reply,
        { status: 400, code: "bad_request", says: /not valid HTTP/ },
        JSON.stringify(line),
      );
    }
  });

  test("request smuggling by conflicting lengths is refused", async () => {
    const head = `POST /api/v1/auth/logout HTTP/1.1\r\nHost: ${panelHost}\r\n`;
    for (const lengths of [
      "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
      "Content-Length: 4\r\nContent-Length: 5\r\n",
      "Transfer-Encoding: chunked, identity\r\n",
      "Content-Length: +4\r\n",
    ]) {
      const raw = await sendBytes(
        gateways().port("bare"),
        `${head}${lengths}Connection: close\r\n\r\n0\r\n\r\nGET / `,
      );
      assert.equal(raw.split("HTTP/1.1 ").length, 2, raw);
      assert.equal(parseResponse(raw).status, 400, `${lengths}: ${raw}`);
    }
  });
}
