import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { until } from "@svc/mesh/testing";
import { accounts } from "@svc/proto";
import { sha256 } from "../secret.ts";
import { type Fixture, startFixture, stateOf } from "../testing/fixture.ts";

const minute = 60_000;
const hour = 60 * minute;

describe("sessions", () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture();
  });
  after(() => fixture.stop());

  test("only the sha-256 of a cookie is stored", async () => {
    const { cookie, session } = await fixture.person();
    assert.equal(session, sha256(cookie));
    const rows = await fixture.database.admin("select * from identity.sessions");
    assert.ok(!JSON.stringify(rows).includes(cookie));
  });

  test("a live session returns the account, its role and its expiry", async () => {
    const person = await fixture.person();
    const answer = await stateOf(fixture, person.session);
    assert.deepEqual(answer, {
      state: "live",
      user_id: person.userId,
      username: person.principal.username,
      role: "user",
      setup: false,
      expires_at: new Date(fixture.now().getTime() + 12 * hour).toISOString(),
      host: "player",
    });
  });

  test("a forged cookie is unknown", async () => {
    assert.deepEqual(await stateOf(fixture, "0".repeat(64)), { state: "unknown" });
  });

  test("a session expires after 12 hours", async () => {
    const { session } = await fixture.person();
    fixture.pass(12 * hour - 1);
    assert.equal((await stateOf(fixture, session)).state, "live");
    fixture.pass(1);
    assert.equal((await stateOf(fixture, session)).state, "unknown");
  });

  test("last_seen_at moves at most once a minute", async () => {
    const { session } = await fixture.person();
    const seen = async () =>
      (
        await fixture.store.db
          .selectFrom("sessions")
          .select("last_seen_at")
          .where("token_hash", "=", session)
          .executeTakeFirstOrThrow()
      ).last_seen_at.getTime();
    const start = fixture.now().getTime();
    fixture.pass(minute - 1);
    await stateOf(fixture, session);
    assert.equal(await seen(), start);
    fixture.pass(1);
    await stateOf(fixture, session);
    await until(async () => (await seen()) === start + minute);
  });

  test("an answer does not wait for the note that a session was seen", async () => {
    const { session } = await fixture.person();
    const states = await fixture.store.db.transaction().execute(async (trx) => {
      await trx
        .selectFrom("sessions")
        .select("user_id")
        .where("token_hash", "=", session)
        .forUpdate()
        .execute();
      fixture.pass(minute);
      return [await stateOf(fixture, session), await stateOf(fixture, session)];
    });
    assert.deepEqual(
      states.map(({ state }) => state),
      ["live", "live"],
    );
  });

  test("a staff session expires after 30 minutes idle, and resolving it does not revive it", async () => {
    const { session } = await fixture.person({ role: "admin" });
    fixture.pass(29 * minute);
    assert.equal((await stateOf(fixture, session)).state, "live");
    fixture.pass(30 * minute);
    assert.equal((await stateOf(fixture, session)).state, "unknown");
    assert.equal((await stateOf(fixture, session)).state, "unknown");
  });

  test("polls do not keep a staff session active, and other requests do", async () => {
    const [left, at] = [await fixture.person({ role: "admin" }), await fixture.person({ role: "admin" })];
    const poll = async (hash: string) =>
      (await fixture.gateway.call(accounts.resolveSession, { hash, is_use: false })).state;
    for (let round = 0; round < 3; round++) {
      fixture.pass(10 * minute - 1);
      assert.deepEqual([await poll(left.session), await poll(at.session)], ["live", "live"]);
      assert.equal((await stateOf(fixture, at.session)).state, "live");
    }
    fixture.pass(3);
    assert.equal(await poll(left.session), "unknown");
    assert.equal((await stateOf(fixture, left.session)).state, "unknown");
    assert.equal(await poll(at.session), "live");
  });

  test("staff with a passkey are not in setup", async () => {
    const { session, userId } = await fixture.person({ role: "admin" });
    const isInSetup = async () => {
      const answer = await stateOf(fixture, session);
      return answer.state === "live" && answer.setup;
    };
    assert.equal(await isInSetup(), true);
    await fixture.database.admin(
      `insert into identity.webauthn_credentials (id, user_id, credential_id, public_key, created_at)
       values ($1, $1, $1, '', now())`,
      [userId],
    );
    assert.equal(await isInSetup(), false);
    const { principal } = await fixture.person({ role: "admin" });
    const status = await fixture.gateway.call(
      accounts.setupStatus,
      {},
      { principal: { ...principal, user_id: userId } },
    );
    assert.deepEqual([status.has_passkey, status.setup_required], [true, false]);
  });

  test("a player's session does not expire when idle", async () => {
    const { session } = await fixture.person();
    fixture.pass(hour);
    assert.equal((await stateOf(fixture, session)).state, "live");
  });

  test("a session of a disabled or deleted account is unknown", async () => {
    for (const change of [{ disabled: true }, { deleted_at: fixture.now() }]) {
      const { session, userId } = await fixture.person();
      await fixture.store.db.updateTable("users").set(change).where("id", "=", userId).execute();
      assert.equal((await stateOf(fixture, session)).state, "unknown");
    }
  });

  test("a password session is valid only while the platform setting is on, and a change applies at once", async () => {
    const { session } = await fixture.person({ door: "password" });
    assert.equal((await stateOf(fixture, session)).state, "local_auth_off");
    const set = (value: string) =>
      fixture.database.admin(
        `insert into identity.platform_settings (key, value) values ('local_auth_enabled', $1)
         on conflict (key) do update set value = excluded.value`,
        [value],
      );
    await set("true");
    assert.equal((await stateOf(fixture, session)).state, "live");
    await set('"yes"');
    assert.equal((await stateOf(fixture, session)).state, "local_auth_off");
  });

  test("staff without a verified e-mail are in setup, players never", async () => {
    const setupOf = async (about: Parameters<Fixture["person"]>[0]) => {
      const answer = await stateOf(fixture, (await fixture.person(about)).session);
      return answer.state === "live" && answer.setup;
    };
    assert.equal(await setupOf({ role: "owner" }), true);
    assert.equal(await setupOf({ role: "admin", email: "a@example.org" }), true);
    assert.equal(await setupOf({ role: "admin", email: "b@example.org", emailVerified: true }), false);
    assert.equal(await setupOf({ role: "user" }), false);
  });

  test("logout ends the presented session, clears the cookie and informs the gateways", async () => {
    const person = await fixture.person();
    const received: string[] = [];
    const stop = fixture.gateway.listen(
      "svc.evt.identity.session.revoked.*",
      (subject) => void received.push(subject),
    );
    const reply = await fixture.forward(accounts.logout, {}, { principal: person.principal });
    assert.equal(reply.session, null);
    assert.equal((await stateOf(fixture, person.session)).state, "unknown");
    await until(() => received.some((subject) => subject.endsWith(person.session)));
    stop();
    const again = await fixture.forward(accounts.logout, {}, { principal: person.principal });
    assert.equal(again.session, null);
  });

  test("logout ends a session that is not live, so that it never becomes live again", async () => {
    const closed = await fixture.person({ door: "password" });
    const idle = await fixture.person({ role: "admin" });
    fixture.pass(31 * minute);
    for (const { session } of [closed, idle]) {
      assert.notEqual((await stateOf(fixture, session)).state, "live");
      const principal = { kind: "anonymous", session } as const;
      assert.equal((await fixture.forward(accounts.logout, {}, { principal })).session, null);
      const rows = await fixture.database.admin(
        "select revoked_at is not null as ended from identity.sessions where token_hash = $1",
        [session],
      );
      assert.deepEqual(rows, [{ ended: true }]);
    }
  });

  test("logout without a session succeeds", async () => {
    const reply = await fixture.forward(accounts.logout, {});
    assert.equal(reply.session, null);
  });

  test("the list has only the live sessions of the caller, most recently seen first", async () => {
    const person = await fixture.person();
    await fixture.person();
    fixture.pass(5 * minute);
    const newer = await fixture.session(person.userId);
    const ended = await fixture.session(person.userId);
    await fixture.gateway.call(accounts.revokeSession, { hash: ended.hash }, { principal: person.principal });
    const { sessions } = await fixture.gateway.call(
      accounts.listSessions,
      {},
      { principal: person.principal },
    );
    assert.deepEqual(
      sessions.map((session) => [session.token_hash, session.current]),
      [
        [newer.hash, undefined],
        [person.session, true],
      ],
    );
    assert.equal(sessions[0]?.client_ip, "192.0.2.7");
  });

  test("a session of another account cannot be ended", async () => {
    const [one, other] = await Promise.all([fixture.person(), fixture.person()]);
    const answer = await fixture.refused(
      accounts.revokeSession,
      { hash: other.session },
      { principal: one.principal },
    );
    assert.equal(answer.fault, "session_not_found");
    assert.equal((await stateOf(fixture, other.session)).state, "live");
  });

  test("ending the current session signs the caller out, ending another one does not", async () => {
    const person = await fixture.person();
    const other = await fixture.session(person.userId);
    const principal = person.principal;
    const first = await fixture.forward(accounts.revokeSession, { hash: other.hash }, { principal });
    assert.deepEqual(JSON.parse(Buffer.from(first.body).toString()), { ok: true, signed_out: false });
    assert.equal(first.session, undefined);
    const second = await fixture.forward(accounts.revokeSession, { hash: person.session }, { principal });
    assert.deepEqual(JSON.parse(Buffer.from(second.body).toString()), { ok: true, signed_out: true });
    assert.equal(second.session, null);
  });

  test("revoke-others ends all but this session and returns how many", async () => {
    const person = await fixture.person();
    const others = [await fixture.session(person.userId), await fixture.session(person.userId)];
    const principal = person.principal;
    assert.deepEqual(await fixture.gateway.call(accounts.revokeOtherSessions, {}, { principal }), {
      revoked: 2,
    });
    for (const { hash } of others) assert.equal((await stateOf(fixture, hash)).state, "unknown");
    assert.equal((await stateOf(fixture, person.session)).state, "live");
    assert.deepEqual(await fixture.gateway.call(accounts.revokeOtherSessions, {}, { principal }), {
      revoked: 0,
    });
  });

  test("parallel requests to end a session count it once", async () => {
    const person = await fixture.person();
    await fixture.session(person.userId);
    const before = await fixture.metric("svc_sessions_revoked_total");
    const answers = await Promise.all(
      [1, 2, 3, 4].map(() =>
        fixture.gateway.call(accounts.revokeOtherSessions, {}, { principal: person.principal }),
      ),
    );
    assert.equal(
      answers.reduce((sum, { revoked }) => sum + revoked, 0),
      1,
    );
    assert.equal(await fixture.metric("svc_sessions_revoked_total"), before + 1);
  });

  test("without the database a session is unavailable, never unknown", async () => {
    const person = await fixture.person();
    await fixture.wire.cut();
    const answer = await fixture.refused(accounts.resolveSession, { hash: person.session, is_use: true });
    assert.equal(answer.fault, "unavailable");
    const me = await fixture.refused(accounts.me, {}, { principal: person.principal });
    assert.equal(me.fault, "auth_unavailable");
    await fixture.wire.recover();
    await until(
      async () => (await stateOf(fixture, person.session).catch(() => undefined))?.state === "live",
    );
  });
});
