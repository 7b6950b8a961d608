import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { until } from "@svc/local-stack/testing";
import { accounts, eventSubject, type Role } from "@svc/proto";
import * as contracts from "../testing/contracts.ts";
import { type GatewayFixture, type RunningFace, startGatewayFixture } from "../testing/gateway-fixture.ts";
import { send } from "../testing/raw-request.ts";

let fixture: GatewayFixture;
let face: RunningFace;
let changes = 0;
const adminHost = "op.console.test";
const panelHost = "console.test";

before(async () => {
  fixture = await startGatewayFixture();
  const seers = [
    contracts.open,
    contracts.app,
    contracts.inSetup,
    contracts.admin,
    contracts.owner,
    contracts.service,
  ];
  for (const contract of seers) {
    fixture.owner.serve(contract, (context, input) => ({
      principal: context.principal,
      client: context.client,
      request_id: context.requestId,
      traceparent: context.traceparent,
      input,
    }));
  }
  fixture.owner.serve(contracts.door, (context) => {
    context.reply.session = { value: "v".repeat(43), expires_at: "2026-01-02T03:04:05.000Z" };
    return { ok: true as const };
  });
  fixture.owner.serve(contracts.change, () => {
    changes += 1;
    return null;
  });
  fixture.owner.serve(contracts.leave, (context) => {
    const { principal } = context;
    if ("session" in principal && principal.session) fixture.sessions.delete(principal.session);
    context.reply.session = null;
    return { ok: true as const };
  });
  face = await fixture.startFace();
});
after(() => fixture.close());

type Live = Extract<accounts.SessionAnswer, { state: "live" }>;
const hashOf = (cookie: string) => createHash("sha256").update(cookie).digest("hex");

function signIn(role: Role, more: Partial<Live> = {}): string {
  const cookie = randomBytes(32).toString("base64url");
  fixture.sessions.set(hashOf(cookie), {
    state: "live",
    user_id: `usr-${role}`,
    username: role,
    role,
    setup: false,
    expires_at: new Date(Date.now() + 3_600_000).toISOString(),
    host: "player",
    ...more,
  });
  return cookie;
}

const get = (path: string, cookie?: string, headers: Record<string, string> = {}) =>
  send(face.port, {
    path,
    headers: {
      host: panelHost,
      ...(cookie === undefined ? {} : { cookie: `svc_session=${cookie}` }),
      ...headers,
    },
  });
const codeOf = (answer: { json: () => Record<string, unknown> }) =>
  (answer.json()["error"] as Record<string, unknown> | undefined)?.["code"];
const principalOf = (answer: { json: () => Record<string, unknown> }) =>
  answer.json()["principal"] as Record<string, unknown>;

describe("tiers", () => {
  const cases: [path: string, role: Role, host: string, status: number][] = [
    ["/app", "user", panelHost, 200],
    ["/app", "user", adminHost, 403],
    ["/open", "user", adminHost, 403],
    ["/app", "admin", panelHost, 200],
    ["/app", "admin", adminHost, 200],
    ["/admin", "user", panelHost, 403],
    ["/admin", "admin", panelHost, 403],
    ["/admin", "admin", adminHost, 200],
    ["/admin", "owner", `${adminHost.toUpperCase()}.:8080`, 200],
    ["/owner", "admin", adminHost, 403],
    ["/owner", "owner", panelHost, 403],
    ["/owner", "owner", adminHost, 200],
  ];
  for (const [path, role, host, status] of cases) {
    test(`a session of role ${role} on ${host} at ${path} is ${status}`, async () => {
      const minted = host === panelHost ? "player" : "operator";
      const answer = await get(path, signIn(role, { host: minted }), { host });
      assert.equal(answer.status, status);
      if (status === 403) assert.equal(codeOf(answer), "forbidden");
    });
  }
  test("staff is a staff role on the operator console host", async () => {
    assert.equal(principalOf(await get("/app", signIn("admin")))["staff"], false);
    const cookie = signIn("admin", { host: "operator" });
    assert.equal(principalOf(await get("/app", cookie, { host: adminHost }))["staff"], true);
  });
  for (const role of ["owner", "admin", "user"] as const) {
    for (const minted of ["player", "operator"] as const) {
      const away = minted === "player" ? adminHost : panelHost;
      test(`a session of role ${role} minted on the ${minted} host does not count on ${away}`, async () => {
        const cookie = signIn(role, { host: minted });
        // What nobody may there, or no player, is said before the session is looked at.
        const isPlayerOnConsole = role === "user" && away === adminHost;
        for (const path of ["/app", "/admin", "/owner", "/in-setup"]) {
          const isClosed = isPlayerOnConsole || (away === panelHost && /admin|owner/.test(path));
          const isOwnersOnly = away === adminHost && role === "admin" && path === "/owner";
          const answer = await get(path, cookie, { host: away });
          assert.equal(answer.status, isClosed || isOwnersOnly ? 403 : 401, path);
          assert.equal(codeOf(answer), isClosed || isOwnersOnly ? "forbidden" : "unauthorized");
        }
        if (!isPlayerOnConsole)
          assert.deepEqual(principalOf(await get("/open", cookie, { host: away })), { kind: "anonymous" });
        if (role === "user" && minted === "operator") return;
        const home = minted === "player" ? panelHost : adminHost;
        assert.equal((await get("/app", cookie, { host: home })).status, 200);
      });
    }
  }
  test("a session cached on its host is not accepted on the other host", async () => {
    const cookie = signIn("owner", { host: "operator" });
    for (let times = 0; times < 2; times++) {
      assert.equal((await get("/owner", cookie, { host: adminHost })).status, 200);
      assert.equal((await get("/app", cookie)).status, 401);
    }
  });
  test("the owner learns which host was asked, whatever the caller claims", async () => {
    const at = async (host: string) => {
      const claim = { host, "svc-client-host": "operator" };
      return (await get("/open", undefined, claim)).json()["client"] as { host: string };
    };
    assert.equal((await at(panelHost)).host, "player");
    assert.equal((await at("127.0.0.1")).host, "player");
    assert.equal((await at(`${adminHost}.evil.test`)).host, "player");
    assert.equal((await at(adminHost)).host, "operator");
  });
  test("an account in setup may use what setup allows and nothing else", async () => {
    const cookie = signIn("owner", { setup: true });
    assert.equal((await get("/in-setup", cookie)).status, 200);
    const refused = await get("/app", cookie);
    assert.equal(refused.status, 403);
    assert.equal(codeOf(refused), "setup_required");
  });
  test("an account that has just finished its setup is accepted at once", async () => {
    const cookie = signIn("owner", { setup: true });
    await get("/in-setup", cookie);
    const answer = fixture.sessions.get(hashOf(cookie)) as Live;
    fixture.sessions.set(hashOf(cookie), { ...answer, setup: false });
    assert.equal((await get("/app", cookie)).status, 200);
  });
});

describe("the session cookie", () => {
  const invalid = async (headers: Record<string, string>, path = "/app") => {
    const answer = await get(path, undefined, headers);
    assert.equal(answer.status, 401);
    assert.equal(codeOf(answer), "unauthorized");
    return String((answer.json()["error"] as Record<string, unknown>)["message"]);
  };
  test("no cookie is 401", async () => {
    assert.doesNotMatch(await invalid({}), /invalid session/);
  });
  test("an unknown session is 401 invalid session", async () => {
    assert.match(await invalid({ cookie: `svc_session=${"a".repeat(43)}` }), /^invalid session: /);
  });
  test("a malformed cookie is 401 and identity is not asked", async () => {
    const asked = fixture.asked();
    assert.match(await invalid({ cookie: "svc_session=short" }), /^invalid session: /);
    assert.match(await invalid({ cookie: `svc_session=${"a".repeat(42)}"` }), /^invalid session: /);
    assert.equal(fixture.asked(), asked);
  });
  test("two cookies of the name are refused, even when one is good", async () => {
    const good = signIn("user");
    const cookie = `a=b; svc_session=${good}; svc_session=${"a".repeat(43)}`;
    assert.match(await invalid({ cookie }), /^invalid session: /);
  });
  test("a session of a disabled sign-in method says so", async () => {
    const cookie = randomBytes(32).toString("base64url");
    fixture.sessions.set(hashOf(cookie), { state: "local_auth_off" });
    assert.equal(await invalid({ cookie: `svc_session=${cookie}` }), "invalid session: local auth disabled");
  });
  test("a malformed cookie at a public operation is ignored", async () => {
    const answer = await get("/open", "a".repeat(43));
    assert.equal(answer.status, 200);
    assert.deepEqual(principalOf(answer), { kind: "anonymous" });
  });
  test("a valid cookie at a public operation names the caller", async () => {
    assert.equal(principalOf(await get("/open", signIn("user")))["user_id"], "usr-user");
  });
  test("the principal is what identity answered, with the hash and never the cookie", async () => {
    const cookie = signIn("user");
    const answer = await get("/app", cookie);
    assert.deepEqual(principalOf(answer), {
      ...{ kind: "account", user_id: "usr-user", username: "user", role: "user" },
      ...{ staff: false, setup: false, session: hashOf(cookie) },
    });
    assert.ok(!answer.body.includes(cookie));
    assert.equal(face.log.at(-1)?.["principal"], "usr-user");
    assert.ok(!JSON.stringify(face.log).includes(cookie));
  });
  test("signing in sets the cookie with every attribute and without a domain", async () => {
    const answer = await send(face.port, {
      method: "POST",
      path: "/door",
      headers: { "content-type": "application/json" },
    });
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.headers["set-cookie"], [
      `svc_session=${"v".repeat(43)}; Expires=Fri, 02 Jan 2026 03:04:05 GMT; Path=/; HttpOnly; Secure; SameSite=Lax`,
    ]);
  });
  test("signing out clears the cookie, and the session is gone at once", async () => {
    const cookie = signIn("user");
    assert.equal((await get("/app", cookie)).status, 200);
    const headers = { cookie: `svc_session=${cookie}` };
    const answer = await send(face.port, { method: "POST", path: "/leave", headers });
    assert.match(String(answer.headers["set-cookie"]), /^svc_session=; Expires=Thu, 01 Jan 1970/);
    assert.equal((await get("/app", cookie)).status, 401);
  });
});

describe("signing out with a session that does not count", () => {
  for (const state of ["local_auth_off", "unknown"] as const) {
    test(`the operation that ends sessions learns the hash of one that is ${state}, and no other does`, async () => {
      const cookie = randomBytes(32).toString("base64url");
      fixture.sessions.set(hashOf(cookie), { state });
      const headers = { host: panelHost, cookie: `svc_session=${cookie}` };
      const left = await send(face.port, { method: "POST", path: "/leave", headers });
      assert.match(String(left.headers["set-cookie"]), /^svc_session=; Expires=Thu, 01 Jan 1970/);
      assert.equal(fixture.sessions.has(hashOf(cookie)), false);
      fixture.sessions.set(hashOf(cookie), { state });
      assert.deepEqual(principalOf(await get("/open", cookie)), { kind: "anonymous" });
    });
  }
});

describe("the session cache", () => {
  test("identity is asked once for many requests", async () => {
    const cookie = signIn("user");
    const asked = fixture.asked();
    await Promise.all(Array.from({ length: 10 }, () => get("/app", cookie)));
    await get("/app", cookie);
    assert.equal(fixture.asked(), asked + 1);
  });
  test("an entry expires", async () => {
    const brief = await fixture.startFace({ settings: { sessionCacheMs: 1 } });
    const cookie = signIn("user");
    const headers = { cookie: `svc_session=${cookie}` };
    assert.equal((await send(brief.port, { path: "/app", headers })).status, 200);
    fixture.sessions.delete(hashOf(cookie));
    await until(async () => (await send(brief.port, { path: "/app", headers })).status === 401);
  });
  test("a revoke event drops a session at once", async () => {
    const cookie = signIn("user");
    const hash = hashOf(cookie);
    assert.equal((await get("/app", cookie)).status, 200);
    fixture.sessions.delete(hash);
    const data = { hash, user_id: "usr-user", at: new Date().toISOString() };
    const body = Buffer.from(JSON.stringify(data));
    await fixture.identity.publish([
      { id: hash, subject: eventSubject(accounts.sessionRevoked, data), body },
    ]);
    await until(async () => (await get("/app", cookie)).status === 401);
  });
  test("while identity is unreachable the response is 503, never 401", async () => {
    const lonely = await startGatewayFixture();
    try {
      await lonely.identity.drain(200);
      const alone = await lonely.startFace();
      const headers = { cookie: `svc_session=${"a".repeat(43)}` };
      for (const path of ["/app", "/open"]) {
        const answer = await send(alone.port, { path, headers });
        assert.equal(answer.status, 503);
        assert.equal(codeOf(answer), "auth_unavailable");
        assert.equal(answer.headers["retry-after"], "1");
      }
    } finally {
      await lonely.close();
    }
  });
});

describe("malformed input", () => {
  test("without a credential, malformed input at an operation that needs one is 401", async () => {
    const headers = { "content-type": "application/json" };
    const answer = await send(face.port, { method: "PUT", path: "/private/a", headers, body: '{"size": ' });
    assert.equal(answer.status, 401);
  });
  test("with a session, malformed input is refused without asking its owner", async () => {
    const headers = {
      ...{ host: panelHost, "content-type": "application/json" },
      cookie: `svc_session=${signIn("user")}`,
    };
    const change = async (body: string) =>
      (await send(face.port, { method: "PUT", path: "/private/a", headers, body })).status;
    assert.equal(await change('{"size": 1}'), 204);
    for (const body of ['{"size": ', '{"size": "large"}', "[]", ""]) assert.equal(await change(body), 400);
    assert.equal(changes, 1);
  });
});
