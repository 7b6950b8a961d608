import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { until } from "@svc/mesh/testing";
import { signIn } from "@svc/proto";
import { type Fixture, startFixture, stateOf } from "../testing/fixture.ts";
import { hashPassword, isPassword } from "./password-hash.ts";
import { savePassword } from "./password-store.ts";

const hour = 3_600_000;
const options = { principal: { kind: "anonymous" } as const };

test("a password is stored as argon2id with its own salt", async () => {
  const [one, other] = await Promise.all([hashPassword("correct horse"), hashPassword("correct horse")]);
  assert.match(one, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  assert.notEqual(one, other);
  assert.equal(await isPassword("correct horse", one), true);
  assert.equal(await isPassword("correct Horse", one), false);
});

test("a hash of the reference implementation is verified", async () => {
  // argon2 20190702: echo -n password | argon2 somesalt -id -t 2 -m 16 -p 1 -l 32 -e
  const kept = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc";
  assert.equal(await isPassword("password", kept), true);
  assert.equal(await isPassword("passwore", kept), false);
});

test("no password matches an absent or damaged hash", async () => {
  for (const kept of [null, undefined, "", "$argon2id$v=19$m=1$x$y", "password"])
    assert.equal(await isPassword("password", kept), false);
});

test("a password in another Unicode normal form matches", async () => {
  assert.equal(await isPassword("cafe\u0301", await hashPassword("caf\u00e9")), true);
});

describe("sign-in with a local password", () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture();
  });
  after(() => fixture.stop());

  const open = (value: string) =>
    fixture.database.admin(
      `insert into identity.platform_settings (key, value) values ('local_auth_enabled', $1::jsonb)
       on conflict (key) do update set value = excluded.value`,
      [value],
    );
  const person = async (password: string) => {
    const one = await fixture.person({ role: "admin" });
    const passwordHash = await hashPassword(password);
    await fixture.store.db
      .transaction()
      .execute((trx) => savePassword(trx, { userId: one.userId, passwordHash, now: fixture.now() }));
    return { ...one, username: one.principal.username };
  };
  const signInWith = (username: string, password: string) =>
    fixture.gateway.forward(signIn.passwordLogin, { username, password }, options);
  const refused = async (username: string, password: string) =>
    fixture.refused(signIn.passwordLogin, { username, password }, options);

  test("is off while the setting is missing, off or unreadable", async () => {
    const { username } = await person("secret");
    assert.equal((await refused(username, "secret")).fault, "local_auth_disabled");
    for (const value of ["false", '"true"', "1", "null"]) {
      await open(value);
      assert.equal((await refused(username, "secret")).fault, "local_auth_disabled", value);
    }
  });

  test("is named beside the methods of any address while it is on", async () => {
    const email = "known@example.net";
    await fixture.person({ email, emailVerified: true });
    const ask = (address: string) => fixture.gateway.call(signIn.options, { email: address }, options);
    await open("false");
    for (const address of [email, "nobody@example.net"])
      assert.equal("password" in (await ask(address)), false, address);
    await open("true");
    for (const address of [email, "nobody@example.net"]) assert.equal((await ask(address)).password, true);
  });

  test("signs in for 12 hours, and does not count as a proof", async () => {
    await open("true");
    const { username, userId } = await person("secret");
    const reply = await signInWith(username, "secret");
    assert.deepEqual(JSON.parse(Buffer.from(reply.body).toString()), { user_id: userId, role: "admin" });
    assert.equal(Date.parse(reply.session?.expires_at ?? ""), fixture.now().getTime() + 12 * hour);
    const rows = await fixture.database.admin(
      "select token_hash, reauth_at from identity.sessions where user_id = $1 and door = 'password'",
      [userId],
    );
    assert.equal(rows[0]?.["reauth_at"], null);
    const hash = String(rows[0]?.["token_hash"]);
    assert.equal((await stateOf(fixture, hash)).state, "live");
    await open("false");
    assert.equal((await stateOf(fixture, hash)).state, "local_auth_off");
    await open("true");
  });

  test("gives a wrong password and an unknown name the same response, and audits which it was", async () => {
    const { username } = await person("secret");
    const none = await fixture.person();
    const answers = [
      await refused(username, "Secret"),
      await refused("nobody", "secret"),
      await refused(none.principal.username, "secret"),
    ];
    for (const answer of answers) assert.equal(answer.fault, "unauthorized");
    await until(async () => {
      const rows = await fixture.database.admin(
        "select payload from identity.audit_logs where action = 'auth.password.failed'",
      );
      const reasons = rows.map(({ payload }) => (payload as { reason: string }).reason);
      return reasons.includes("bad_password") && reasons.includes("no_account");
    });
  });

  test("allows ten attempts per user name and hour, known or not, and returns how long to wait", async () => {
    const { username } = await person("secret");
    for (const name of [username, "who-is-this"]) {
      for (let tries = 0; tries < 10; tries++)
        assert.equal((await refused(name, "wrong")).fault, "unauthorized");
      assert.deepEqual(await refused(name, "secret"), { fault: "rate_limited", retryAfterSeconds: 360 });
    }
    fixture.pass(360_000);
    assert.ok((await signInWith(username, "secret")).session);
  });

  test("a password that is replaced during the check does not sign in", async () => {
    const { username, userId } = await person("secret");
    const passwordHash = await hashPassword("other");
    // The change has the row lock of the account when the check of the old password succeeds.
    const signingIn = await fixture.store.db.transaction().execute(async (trx) => {
      await savePassword(trx, { userId, passwordHash, now: fixture.now() });
      const trying = signInWith(username, "secret").then(
        () => "signed in",
        (error: { fault: string }) => error.fault,
      );
      await until(async () => {
        const waiting = await fixture.database.admin(
          "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
        );
        return waiting.length > 0;
      });
      return { trying };
    });
    assert.equal(await signingIn.trying, "unauthorized");
  });

  test("a new password ends the sessions of the account", async () => {
    const { session, userId } = await person("secret");
    assert.equal((await stateOf(fixture, session)).state, "unknown");
    const later = await fixture.session(userId);
    const passwordHash = await hashPassword("other");
    const ended = await fixture.store.db
      .transaction()
      .execute((trx) => savePassword(trx, { userId, passwordHash, now: fixture.now() }));
    assert.equal(ended, 1);
    assert.equal((await stateOf(fixture, later.hash)).state, "unknown");
  });
});
