import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { until } from "@svc/mesh/testing";
import { accounts } from "@svc/proto";
import { sha256 } from "../secret.ts";
import { type Bed, startBed, stateOf } from "../testing/fixture.ts";

const minute = 60_000;
const hour = 60 * minute;

describe("sessions", () => {
  let bed: Bed;
  before(async () => {
    bed = await startBed();
  });
  after(() => bed.stop());

  test("only the sha-256 of a cookie is stored", async () => {
    const { cookie, session } = await bed.person();
    assert.equal(session, sha256(cookie));
    const rows = await bed.database.admin("select * from identity.sessions");
    assert.ok(!JSON.stringify(rows).includes(cookie));
  });

  test("a live session tells the account, its role and its end", async () => {
    const person = await bed.person();
    const answer = await stateOf(bed, person.session);
    assert.deepEqual(answer, {
      state: "live",
      user_id: person.userId,
      username: person.principal.username,
      role: "user",
      setup: false,
      expires_at: new Date(bed.now().getTime() + 12 * hour).toISOString(),
      host: "player",
    });
  });

  test("a forged cookie is unknown", async () => {
    assert.deepEqual(await stateOf(bed, "0".repeat(64)), { state: "unknown" });
  });

  test("a session ends after 12 hours", async () => {
    const { session } = await bed.person();
    bed.pass(12 * hour - 1);
    assert.equal((await stateOf(bed, session)).state, "live");
    bed.pass(1);
    assert.equal((await stateOf(bed, session)).state, "unknown");
  });

  test("last_seen_at moves at most once a minute", async () => {
    const { session } = await bed.person();
    const seen = async () =>
      (
        await bed.store.db
          .selectFrom("sessions")
          .select("last_seen_at")
          .where("token_hash", "=", session)
          .executeTakeFirstOrThrow()
      ).last_seen_at.getTime();
    const start = bed.now().getTime();
    bed.pass(minute - 1);
    await stateOf(bed, session);
    assert.equal(await seen(), start);
    bed.pass(1);
    await stateOf(bed, session);
    assert.equal(await seen(), start + minute);
  });

  test("a staff session that is idle for 30 minutes stops counting, and asking does not revive it", async () => {
    const { session } = await bed.person({ role: "admin" });
    bed.pass(29 * minute);
    assert.equal((await stateOf(bed, session)).state, "live");
    bed.pass(30 * minute);
    assert.equal((await stateOf(bed, session)).state, "unknown");
    assert.equal((await stateOf(bed, session)).state, "unknown");
  });

  test("staff with a passkey are not in setup", async () => {
    const { session, userId } = await bed.person({ role: "admin" });
    const isInSetup = async () => {
      const answer = await stateOf(bed, session);
      return answer.state === "live" && answer.setup;
    };
    assert.equal(await isInSetup(), true);
    await bed.database.admin(
      `insert into identity.webauthn_credentials (id, user_id, credential_id, public_key, created_at)
       values ($1, $1, $1, '', now())`,
      [userId],
    );
    assert.equal(await isInSetup(), false);
    const { principal } = await bed.person({ role: "admin" });
    const status = await bed.gateway.call(
      accounts.setupStatus,
      {},
      { principal: { ...principal, user_id: userId } },
    );
    assert.deepEqual([status.has_passkey, status.setup_required], [true, false]);
  });

  test("a player's session may be idle", async () => {
    const { session } = await bed.person();
    bed.pass(hour);
    assert.equal((await stateOf(bed, session)).state, "live");
  });

  test("a session of a disabled or deleted account is unknown", async () => {
    for (const change of [{ disabled: true }, { deleted_at: bed.now() }]) {
      const { session, userId } = await bed.person();
      await bed.store.db.updateTable("users").set(change).where("id", "=", userId).execute();
      assert.equal((await stateOf(bed, session)).state, "unknown");
    }
  });

  test("a password session counts only while the platform setting is on, and its change shows at once", async () => {
    const { session } = await bed.person({ door: "password" });
    assert.equal((await stateOf(bed, session)).state, "local_auth_off");
    const set = (value: string) =>
      bed.database.admin(
        `insert into identity.platform_settings (key, value) values ('local_auth_enabled', $1)
         on conflict (key) do update set value = excluded.value`,
        [value],
      );
    await set("true");
    assert.equal((await stateOf(bed, session)).state, "live");
    await set('"yes"');
    assert.equal((await stateOf(bed, session)).state, "local_auth_off");
  });

  test("staff without a verified e-mail are in setup, players never", async () => {
    const setupOf = async (about: Parameters<Bed["person"]>[0]) => {
      const answer = await stateOf(bed, (await bed.person(about)).session);
      return answer.state === "live" && answer.setup;
    };
    assert.equal(await setupOf({ role: "owner" }), true);
    assert.equal(await setupOf({ role: "admin", email: "a@example.org" }), true);
    assert.equal(await setupOf({ role: "admin", email: "b@example.org", emailVerified: true }), false);
    assert.equal(await setupOf({ role: "user" }), false);
  });

  test("logout ends the presented session, clears the cookie and tells the gateways", async () => {
    const person = await bed.person();
    const told: string[] = [];
    const stop = bed.gateway.listen(
      "svc.evt.identity.session.revoked.*",
      (subject) => void told.push(subject),
    );
    const reply = await bed.forward(accounts.logout, {}, { principal: person.principal });
    assert.equal(reply.session, null);
    assert.equal((await stateOf(bed, person.session)).state, "unknown");
    await until(() => told.some((subject) => subject.endsWith(person.session)));
    stop();
    const again = await bed.forward(accounts.logout, {}, { principal: person.principal });
    assert.equal(again.session, null);
  });

  test("logout ends a session that does not count at the moment, so that it never comes back", async () => {
    const closed = await bed.person({ door: "password" });
    const idle = await bed.person({ role: "admin" });
    bed.pass(31 * minute);
    for (const { session } of [closed, idle]) {
      assert.notEqual((await stateOf(bed, session)).state, "live");
      const principal = { kind: "anonymous", session } as const;
      assert.equal((await bed.forward(accounts.logout, {}, { principal })).session, null);
      const rows = await bed.database.admin(
        "select revoked_at is not null as ended from identity.sessions where token_hash = $1",
        [session],
      );
      assert.deepEqual(rows, [{ ended: true }]);
    }
  });

  test("logout without a session is fine", async () => {
    const reply = await bed.forward(accounts.logout, {});
    assert.equal(reply.session, null);
  });

  test("the list has the live sessions of the caller alone, most recently seen first", async () => {
    const person = await bed.person();
    await bed.person();
    bed.pass(5 * minute);
    const newer = await bed.session(person.userId);
    const ended = await bed.session(person.userId);
    await bed.gateway.call(accounts.revokeSession, { hash: ended.hash }, { principal: person.principal });
    const { sessions } = await bed.gateway.call(accounts.listSessions, {}, { principal: person.principal });
    assert.deepEqual(
      sessions.map((session) => [session.token_hash, session.current]),
      [
        [newer.hash, undefined],
        [person.session, true],
      ],
    );
    assert.equal(sessions[0]?.client_ip, "192.0.2.7");
  });

  test("nobody ends a session of somebody else", async () => {
    const [one, other] = await Promise.all([bed.person(), bed.person()]);
    const answer = await bed.refused(
      accounts.revokeSession,
      { hash: other.session },
      { principal: one.principal },
    );
    assert.equal(answer.fault, "session_not_found");
    assert.equal((await stateOf(bed, other.session)).state, "live");
  });

  test("ending the own session signs out, ending another does not", async () => {
    const person = await bed.person();
    const other = await bed.session(person.userId);
    const principal = person.principal;
    const first = await bed.forward(accounts.revokeSession, { hash: other.hash }, { principal });
    assert.deepEqual(JSON.parse(Buffer.from(first.body).toString()), { ok: true, signed_out: false });
    assert.equal(first.session, undefined);
    const second = await bed.forward(accounts.revokeSession, { hash: person.session }, { principal });
    assert.deepEqual(JSON.parse(Buffer.from(second.body).toString()), { ok: true, signed_out: true });
    assert.equal(second.session, null);
  });

  test("revoke-others ends all but this session and says how many", async () => {
    const person = await bed.person();
    const others = [await bed.session(person.userId), await bed.session(person.userId)];
    const principal = person.principal;
    assert.deepEqual(await bed.gateway.call(accounts.revokeOtherSessions, {}, { principal }), { revoked: 2 });
    for (const { hash } of others) assert.equal((await stateOf(bed, hash)).state, "unknown");
    assert.equal((await stateOf(bed, person.session)).state, "live");
    assert.deepEqual(await bed.gateway.call(accounts.revokeOtherSessions, {}, { principal }), { revoked: 0 });
  });

  test("parallel revokes count a session once", async () => {
    const person = await bed.person();
    await bed.session(person.userId);
    const before = await bed.metric("svc_sessions_revoked_total");
    const answers = await Promise.all(
      [1, 2, 3, 4].map(() =>
        bed.gateway.call(accounts.revokeOtherSessions, {}, { principal: person.principal }),
      ),
    );
    assert.equal(
      answers.reduce((sum, { revoked }) => sum + revoked, 0),
      1,
    );
    assert.equal(await bed.metric("svc_sessions_revoked_total"), before + 1);
  });

  test("a database that is gone is unavailable, never an unknown session", async () => {
    const person = await bed.person();
    await bed.wire.cut();
    const answer = await bed.refused(accounts.resolveSession, { hash: person.session });
    assert.equal(answer.fault, "unavailable");
    const me = await bed.refused(accounts.me, {}, { principal: person.principal });
    assert.equal(me.fault, "auth_unavailable");
    await bed.wire.mend();
    await until(async () => (await stateOf(bed, person.session).catch(() => undefined))?.state === "live");
  });
});
