// Session fixation: the cookie before a sign-in is never the one after it.

import assert from "node:assert/strict";
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { test } from "node:test";
import { hashPassword } from "../../services/identity/src/sign-in/password-hash.ts";
import { savePassword } from "../../services/identity/src/sign-in/password-store.ts";
import type { RequestOptions } from "../../services/identity/src/testing/authenticator.ts";
import { visitProvider } from "../../services/identity/src/testing/openid-provider.ts";
import { createPasskeyPeople } from "../../services/identity/src/testing/passkeys.ts";
import { adminHost, type GatewayFixture, panelHost } from "./gateway-fixture.ts";
import type { RawResponse } from "./raw-request.ts";
import { cookieOf } from "./stack-fixture.ts";

/** Signs a victim in, in a browser that already sends `cookie`. */
type Entry = (gateways: GatewayFixture, cookie: string) => Promise<{ reply: RawResponse; userId: string }>;

const post = (path: string, json: unknown, cookie: string) =>
  ({ method: "POST", path: `/api/v1/auth/${path}`, json, cookie }) as const;
let number = 0;

const byMail: Entry = async ({ identity, visit }, cookie) => {
  const email = `victim${++number}@example.org`;
  const { userId } = await identity.person({ email, emailVerified: true });
  await visit(post("email/start", { email }, cookie));
  await identity.smtp.awaitMail(email);
  const code = identity.smtp.codeTo(email);
  return { userId, reply: await visit(post("email/verify", { email, code }, cookie)) };
};

const byBindCode: Entry = async ({ asProxy, visit }, cookie) => {
  const minted = await asProxy({
    method: "POST",
    path: "/api/v1/internal/account/link/code",
    json: { mc_uuid: randomUUID() },
  });
  const { code } = JSON.parse(minted.text) as { code: string };
  const reply = await visit(post("bind", { code }, cookie));
  return { reply, userId: (JSON.parse(reply.text) as { user_id: string }).user_id };
};

const byPassword: Entry = async ({ identity, visit }, cookie) => {
  const { userId, principal } = await identity.person();
  const passwordHash = await hashPassword("correct horse");
  await identity.store.db
    .transaction()
    .execute((trx) => savePassword(trx, { userId, passwordHash, now: identity.now() }));
  await identity.database.admin(
    `insert into identity.platform_settings (key, value) values ('local_auth_enabled', 'true')
     on conflict (key) do update set value = excluded.value`,
  );
  const given = { username: principal.username, password: "correct horse" };
  return { userId, reply: await visit(post("password", given, cookie)) };
};

const byPasskey: Entry = async ({ identity, visit }, cookie) => {
  const holder = await createPasskeyPeople(() => identity).holder();
  const begun = await visit(post("passkey/login/discoverable/begin", {}, cookie));
  const { publicKey, login_id } = JSON.parse(begun.text) as { publicKey: RequestOptions; login_id: string };
  const assertion = holder.device.assert(publicKey);
  const reply = await visit(post("passkey/login/discoverable/finish", { login_id, assertion }, cookie));
  return { userId: holder.userId, reply };
};

const byOpLogin: Entry = async ({ identity, visit, asProxy }, cookie) => {
  const email = `staff${++number}@example.org`;
  const { userId, principal } = await identity.person({ role: "admin", email, emailVerified: true });
  const approver_uuid = randomUUID();
  await identity.store.db
    .insertInto("account_links")
    .values({ user_id: userId, mc_uuid: approver_uuid })
    .execute();
  const started = await visit(post("op-login/start", { email }, cookie));
  const { request_id } = JSON.parse(started.text) as { request_id: string };
  await identity.smtp.awaitMail(email);
  const path = `/api/v1/internal/op-login/${request_id}/approve`;
  await asProxy({ method: "POST", path, json: { approver_uuid, username: principal.username } });
  const finish = post("op-login/finish", { request_id, code: identity.smtp.codeTo(email) }, cookie);
  return { userId, reply: await visit(finish) };
};

const byProvider: Entry = async ({ provider, visit }, cookie) => {
  provider.person = { sub: `victim-${++number}` };
  const begun = await visit(post("oidc/begin", { provider: "club" }, cookie));
  const { url, secret } = JSON.parse(begun.text) as { url: string; secret: string };
  const reply = await visit(post("oidc/finish", { ...(await visitProvider(url)), secret }, cookie));
  return { reply, userId: (JSON.parse(reply.text) as { user_id: string }).user_id };
};

/** Approved by staff, whom both hosts know. */
const byCommandLine: Entry = async ({ identity, visit }, cookie) => {
  const email = `approver${++number}@example.org`;
  const person = await identity.person({ role: "admin", email, emailVerified: true });
  const atPanel = await identity.session(person.userId, { host: "player" });
  const started = await visit(post("cli-login/start", {}, cookie));
  const { secret, code } = JSON.parse(started.text) as { secret: string; code: string };
  for (const own of [person.cookie, atPanel.cookie]) {
    const path = `/api/v1/account/cli-login/${code}`;
    await visit({ method: "POST", path, json: { decision: "approve" }, cookie: `svc_session=${own}` });
  }
  return { userId: person.userId, reply: await visit(post("cli-login/finish", { secret }, cookie)) };
};

/** Ways in that are for staff. */
const ofStaff: ReadonlySet<string> = new Set(["an operator login", "an approved command line"]);

const entries: Record<string, Entry> = {
  "a mailed code": byMail,
  "a bind code": byBindCode,
  "a password": byPassword,
  "a passkey": byPasskey,
  "an OpenID provider": byProvider,
  "an operator login": byOpLogin,
  "an approved command line": byCommandLine,
};

export function checkFixation(gateways: () => GatewayFixture): void {
  /** The gateways as a browser on that host finds them. */
  const on = (host: string): GatewayFixture => ({
    ...gateways(),
    visit: ({ headers, ...question }) => gateways().visit({ ...question, headers: { host, ...headers } }),
  });
  const whoIs = async (cookie: string, host?: string) =>
    gateways().visit({ path: "/api/v1/me", cookie, ...(host && { headers: { host } }) });
  const idOf = ({ text }: RawResponse) => (JSON.parse(text) as { user_id: string }).user_id;
  for (const [what, enter] of Object.entries(entries)) {
    test(`signing in with ${what} sets a new cookie, whatever the browser sent before`, async () => {
      const isStaff = ofStaff.has(what);
      const host = isStaff ? adminHost : panelHost;
      // Nobody but staff is heard on the operator console.
      const email = `thief${++number}@example.org`;
      const staff = { role: "admin", email, emailVerified: true } as const;
      const attacker = await gateways().identity.person(isStaff ? staff : {});
      const planted = randomBytes(32).toString("base64url");
      for (const value of [planted, attacker.cookie]) {
        const before = `svc_session=${value}`;
        const { reply, userId } = await enter(on(host), before);
        assert.equal(reply.status, 200, reply.text);
        const fresh = cookieOf(reply);
        assert.match(fresh, /^svc_session=[A-Za-z0-9_-]{43}$/);
        assert.notEqual(fresh, before);
        assert.equal(idOf(await whoIs(fresh, host)), userId);
      }
      assert.equal((await whoIs(`svc_session=${planted}`, host)).status, 401);
      assert.equal(idOf(await whoIs(`svc_session=${attacker.cookie}`, host)), attacker.userId);
    });
  }

  for (const [what, enter] of Object.entries(entries)) {
    test(`a session of ${what} is valid only on the host where it was created`, async () => {
      for (const [host, other] of [
        [panelHost, adminHost],
        [adminHost, panelHost],
      ] as const) {
        const { reply, userId } = await enter(on(host), "");
        assert.equal(reply.status, 200, reply.text);
        const cookie = cookieOf(reply);
        const isStaff = ofStaff.has(what);
        // A player is nobody on the operator console, with any session.
        const statusAt = (name: string, counts: number) => (!isStaff && name === adminHost ? 403 : counts);
        const here = await whoIs(cookie, host);
        assert.equal(here.status, statusAt(host, 200), here.text);
        if (here.status === 200) assert.equal(idOf(here), userId);
        const there = await whoIs(cookie, other);
        assert.equal(there.status, statusAt(other, 401), there.text);
        if (there.status === 401) assert.match(there.text, /invalid session/);
      }
    });
  }

  test("signing out while password sign-in is off ends the session, and enabling it does not bring the session back", async () => {
    const { reply } = await byPassword(gateways(), "");
    const cookie = cookieOf(reply);
    const set = (value: string) =>
      gateways().identity.database.admin(
        "update identity.platform_settings set value = $1::jsonb where key = 'local_auth_enabled'",
        [value],
      );
    await set("false");
    const closed = await whoIs(cookie);
    assert.equal(closed.status, 401);
    assert.match(closed.text, /local auth disabled/);
    const left = await gateways().visit({ method: "POST", path: "/api/v1/auth/logout", cookie });
    assert.equal(left.status, 200, left.text);
    assert.equal(cookieOf(left), "svc_session=");
    await set("true");
    assert.equal((await whoIs(cookie)).status, 401);
    const hash = createHash("sha256")
      .update(cookie.split("=")[1] ?? "")
      .digest("hex");
    const rows = await gateways().identity.database.admin(
      "select revoked_at is not null as ended from identity.sessions where token_hash = $1",
      [hash],
    );
    assert.deepEqual(rows, [{ ended: true }]);
  });
}
