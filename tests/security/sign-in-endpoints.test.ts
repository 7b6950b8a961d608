// Sign-in over HTTP: both faces in front of a real identity with its database and mail relay.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { createFace, createSessions, openServiceTokens } from "@svc/http-gateway";
import { until } from "@svc/mesh/testing";
import { operations, processOperations } from "@svc/proto";
import { createLogger, createRegistry } from "@svc/telemetry";
import { hashPassword } from "../../services/identity/src/sign-in/password-hash.ts";
import { savePassword } from "../../services/identity/src/sign-in/password-store.ts";
import { type Fixture, startFixture } from "../../services/identity/src/testing/fixture.ts";
import { type Answer, send } from "../flow/stack.ts";

const adminHost = "op.console.test";
const log = createLogger("gateway-external", "silent");
let number = 0;
const newAddress = () => `answer${++number}@example.org`;

let fixture: Fixture;
let external: string;
let internal: string;
const closers: (() => Promise<void>)[] = [];

async function openFace(face: "external" | "internal"): Promise<string> {
  const mesh = face === "external" ? fixture.gateway : fixture.internal;
  const sessions = createSessions(mesh, { cacheMs: 5_000, size: 100 });
  const server = createFace({
    ...{ face, operations, processOperations, mesh, log, registry: createRegistry("face", "1") },
    ...(face === "external"
      ? { sessions }
      : { tokens: openServiceTokens({ values: { velocity: "velocity-token-of-the-test" }, log }) }),
    settings: { adminHostname: adminHost, drainMs: 500, clientIpHeader: "x-client-address" },
  });
  const { port } = await server.listen({ host: "127.0.0.1", port: 0 });
  closers.push(async () => {
    await server.close();
    sessions.close();
  });
  return `http://127.0.0.1:${port}`;
}

before(async () => {
  fixture = await startFixture({ set: ["smtp.max_per_hour=1000000"] });
  [external, internal] = await Promise.all([openFace("external"), openFace("internal")]);
});
after(async () => {
  await Promise.all(closers.map((close) => close()));
  await fixture.stop();
});

type More = { cookie?: string; host?: string; address?: string; headers?: Record<string, string> };

/** Each request comes from an address of its own unless one is given. */
function ask(method: string, path: string, body?: unknown, more: More = {}): Promise<Answer> {
  const { host = "console.test", address = `198.51.100.${++number % 250}`, cookie } = more;
  const headers = { host, "x-client-address": address, ...(cookie && { cookie }), ...more.headers };
  return send(`${external}${path}`, { method, headers, body });
}
const inGame = (method: string, path: string, body?: unknown) =>
  send(`${internal}${path}`, {
    method,
    headers: { authorization: "Bearer velocity-token-of-the-test" },
    body,
  });
const codeOf = ({ body }: Answer) => (body as { error: { code: string; message: string } }).error.code;
const cookieOf = ({ headers }: Answer) => String(headers["set-cookie"]).split(";")[0] ?? "";

/** What an observer may compare: status, header names, those values that do not name the request, body. */
function observable({ status, headers, body }: Answer) {
  const own = new Set(["date", "x-request-id"]);
  const shown = Object.entries(headers).map(([name, value]) => [name, own.has(name) ? "" : value]);
  const text = JSON.stringify(body).replaceAll(/"request_id":"[^"]*"/g, (found) => `${found.length}`);
  return { status, headers: shown, text };
}

describe("sign-in over HTTP", () => {
  test("responses do not reveal whether an address is known", async () => {
    const known = newAddress();
    const staff = newAddress();
    await fixture.person({ email: known, emailVerified: true });
    await fixture.person({ role: "admin", email: staff, emailVerified: true });
    for (const path of ["/api/v1/auth/email/start", "/api/v1/auth/op-login/start"]) {
      for (const round of ["first", "within the minute"]) {
        const answers = [];
        for (const email of [known, staff, `nobody-${path.length}@example.org`])
          answers.push(observable(await ask("POST", path, { email })));
        assert.equal(answers[0]?.status, 202);
        assert.deepEqual(answers[0], answers[1], `${path} ${round}`);
        assert.deepEqual(answers[0], answers[2], `${path} ${round}`);
      }
    }
    const refusals = [];
    for (const email of [known, staff, newAddress()])
      refusals.push(observable(await ask("POST", "/api/v1/auth/email/verify", { email, code: "000000" })));
    assert.equal(refusals[0]?.status, 400);
    assert.deepEqual(refusals[0], refusals[1]);
    assert.deepEqual(refusals[0], refusals[2]);
  });

  test("a player signs in by mail, reads their account and signs out", async () => {
    const email = newAddress();
    const { userId } = await fixture.person({ email, emailVerified: true });
    assert.equal((await ask("POST", "/api/v1/auth/email/start", { email })).status, 202);
    await fixture.smtp.awaitMail(email);
    const signedIn = await ask("POST", "/api/v1/auth/email/verify", {
      email,
      code: fixture.smtp.codeTo(email),
    });
    assert.deepEqual([signedIn.status, signedIn.body], [200, { user_id: userId, role: "user" }]);
    const cookie = cookieOf(signedIn);
    const me = await ask("GET", "/api/v1/me", undefined, { cookie });
    assert.equal((me.body as { email: string }).email, email);
    const left = await ask("POST", "/api/v1/auth/logout", undefined, { cookie });
    assert.deepEqual([left.status, left.body], [200, { ok: true }]);
    assert.equal((await ask("GET", "/api/v1/me", undefined, { cookie })).status, 401);
  });

  test("staff sign in with the code and the approval from the game", async () => {
    const email = newAddress();
    const { userId, principal } = await fixture.person({ role: "owner", email, emailVerified: true });
    const uuid = randomUUID();
    await fixture.store.db.insertInto("account_links").values({ user_id: userId, mc_uuid: uuid }).execute();
    const started = await ask("POST", "/api/v1/auth/op-login/start", { email });
    const id = (started.body as { request_id: string }).request_id;
    await fixture.smtp.awaitMail(email);
    const finish = () =>
      ask(
        "POST",
        "/api/v1/auth/op-login/finish",
        { request_id: id, code: fixture.smtp.codeTo(email) },
        { host: adminHost },
      );
    assert.deepEqual([(await finish()).status, codeOf(await finish())], [400, "op_login_invalid"]);
    const pending = await inGame("GET", "/api/v1/internal/op-login/pending");
    const ids = (pending.body as { pending: { request_id: string }[] }).pending.map((one) => one.request_id);
    assert.ok(ids.includes(id));
    const shown = await inGame("GET", `/api/v1/internal/op-login/${id}?approver_uuid=${uuid}`);
    assert.equal((shown.body as { username: string }).username, principal.username);
    const nobody = await inGame("GET", `/api/v1/internal/op-login/${id}`);
    assert.deepEqual([nobody.status, codeOf(nobody)], [400, "bad_request"]);
    const approval = { approver_uuid: uuid, username: principal.username };
    const approved = await inGame("POST", `/api/v1/internal/op-login/${id}/approve`, approval);
    assert.deepEqual(approved.body, { approved: true, username: principal.username, email });
    const status = await ask("GET", `/api/v1/auth/op-login/status/${id}`);
    assert.deepEqual(status.body, { approved: true });
    const cookie = cookieOf(await finish());
    const me = await ask("GET", "/api/v1/me", undefined, { cookie, host: adminHost });
    assert.equal((me.body as { is_owner: boolean }).is_owner, true);
  });

  test("password sign-in works only while it is enabled, and its session says why it ended", async () => {
    const { userId, principal } = await fixture.person();
    const passwordHash = await hashPassword("correct horse");
    await fixture.store.db
      .transaction()
      .execute((trx) => savePassword(trx, { userId, passwordHash, now: fixture.now() }));
    const given = { username: principal.username, password: "correct horse" };
    const closed = await ask("POST", "/api/v1/auth/password", given);
    assert.deepEqual([closed.status, codeOf(closed)], [403, "local_auth_disabled"]);
    const set = (value: string) =>
      fixture.database.admin(
        `insert into identity.platform_settings (key, value) values ('local_auth_enabled', $1::jsonb)
         on conflict (key) do update set value = excluded.value`,
        [value],
      );
    await set("true");
    const wrong = await ask("POST", "/api/v1/auth/password", { ...given, password: "wrong" });
    assert.deepEqual([wrong.status, codeOf(wrong)], [401, "unauthorized"]);
    const signedIn = await ask("POST", "/api/v1/auth/password", given);
    assert.deepEqual(signedIn.body, { user_id: userId, role: "user" });
    await set("false");
    const refused = await ask("GET", "/api/v1/me", undefined, { cookie: cookieOf(signedIn) });
    assert.equal(refused.status, 401);
    assert.match(JSON.stringify(refused.body), /invalid session: local auth disabled/);
  });

  test("passwordless sign-in does not depend on the setting", async () => {
    const answer = await ask("POST", "/api/v1/auth/email/start", { email: newAddress() });
    assert.equal(answer.status, 202);
  });

  test("a sign-in operation accepts only JSON without unknown fields", async () => {
    const form = { headers: { "content-type": "text/plain" } };
    const plain = await send(`${external}/api/v1/auth/email/start`, { method: "POST", ...form });
    assert.deepEqual([plain.status, codeOf(plain)], [415, "unsupported_media_type"]);
    const more = await ask("POST", "/api/v1/auth/email/start", { email: newAddress(), admin: true });
    assert.deepEqual([more.status, codeOf(more)], [400, "bad_request"]);
  });

  test("one address has 20 attempts at all sign-in operations together, and the 21st gets Retry-After", async () => {
    const address = "203.0.113.77";
    const endpoints = [
      ["bind", { code: "WRONGCDE" }],
      ["email/verify", { email: newAddress(), code: "000000" }],
      ["op-login/finish", { request_id: "none", code: "000000" }],
      ["setup/redeem", { token: "wrong" }],
    ] as const;
    const answers: Answer[] = [];
    for (let tries = 0; tries < 21; tries++) {
      const [path, body] = endpoints[tries % endpoints.length] ?? endpoints[0];
      answers.push(await ask("POST", `/api/v1/auth/${path}`, body, { address }));
    }
    assert.deepEqual(
      answers.map(({ status }) => status),
      [...Array<number>(20).fill(400), 429],
    );
    assert.ok(answers.slice(0, 20).every((answer) => codeOf(answer) !== "bad_request"));
    assert.equal(answers[20] && codeOf(answers[20]), "rate_limited");
    assert.ok(Number(answers[20]?.headers["retry-after"]) >= 1);
    await until(async () => {
      const rows = await fixture.database.admin(
        "select payload from identity.audit_logs where action = 'auth.rate_limited' and client_ip = $1::inet",
        [address],
      );
      return rows.length === 1;
    });
    for (const [method, path] of [
      ["GET", "/api/v1/auth/op-login/status/none"],
      ["POST", "/api/v1/auth/logout"],
    ] as const)
      assert.equal((await ask(method, path, undefined, { address })).status, 200);
  });

  test("without the database a cookie is 503 and not 401, and works again afterwards", async () => {
    const { cookie: value } = await fixture.person();
    const cookie = `svc_session=${value}`;
    await fixture.wire.cut();
    const away = await ask("GET", "/api/v1/me", undefined, { cookie });
    const answer = await ask("POST", "/api/v1/auth/email/start", { email: newAddress() });
    await fixture.wire.recover();
    assert.deepEqual([away.status, codeOf(away)], [503, "auth_unavailable"]);
    assert.equal(answer.status, 503);
    assert.equal((await ask("GET", "/api/v1/me", undefined, { cookie })).status, 200);
  });
});
