import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { until } from "@svc/mesh/testing";
import { passkeys } from "@svc/proto";
import { type Fixture, type NewPerson, type Person, startFixture } from "../testing/fixture.ts";
import { createPasskeyPeople, type Holder } from "../testing/passkeys.ts";
import { wrong } from "../testing/sign-in-client.ts";

const minute = 60_000;

describe("a reauthentication", () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture();
  });
  after(() => fixture.stop());
  const people = createPasskeyPeople(() => fixture);
  let number = 0;

  const status = (person: Person) => fixture.gateway.call(passkeys.reauthStatus, {}, people.as(person));
  const start = (person: Person) => fixture.gateway.call(passkeys.startReauthEmail, {}, people.as(person));
  const startRefused = (person: Person) => fixture.refused(passkeys.startReauthEmail, {}, people.as(person));
  const verify = (person: Person, code: string) =>
    fixture.gateway.call(passkeys.verifyReauthEmail, { code }, people.as(person));
  const verifyRefused = async (person: Person, code: string) =>
    (await fixture.refused(passkeys.verifyReauthEmail, { code }, people.as(person))).fault;
  /** A player who came from the game, in a session without a proof. */
  const unproved = async (about: NewPerson = {}) => {
    const email = `reauth${++number}@example.org`;
    const person = await fixture.person({
      email,
      emailVerified: true,
      door: "bind",
      isProof: false,
      ...about,
    });
    return { ...person, email };
  };
  /** Another session of the holder, without a proof. */
  const unprovedSession = async (who: Holder): Promise<Holder> => {
    await fixture.database.admin("update identity.sessions set reauth_at = null where token_hash = $1", [
      who.session,
    ]);
    return who;
  };
  const until5 = () => new Date(fixture.now().getTime() + 5 * minute).toISOString();

  test("lists the factors, and how long a proof is valid", async () => {
    const player = await unproved();
    assert.deepEqual(await status(player), { needed: true, factors: ["email"] });
    const fresh = await fixture.person({ email: "fresh@example.org", emailVerified: true });
    assert.deepEqual(await status(fresh), { needed: false, until: until5(), factors: ["email"] });
    fixture.pass(5 * minute);
    assert.deepEqual(await status(fresh), { needed: true, factors: ["email"] });
    const who = await people.holder();
    assert.deepEqual((await status(who)).factors, ["passkey", "email"]);
    const staff = await unproved({ role: "admin" });
    assert.deepEqual(await status(staff), { needed: true, factors: ["sign_in"] });
    const nobody = await fixture.person({ door: "bind", isProof: false });
    assert.deepEqual(await status(nobody), { needed: false, factors: [] });
  });

  test("works with a passkey, for five minutes and in that session only", async () => {
    const who = await unprovedSession(await people.holder());
    const elsewhere = await fixture.session(who.userId, { door: "bind" });
    await fixture.database.admin("update identity.sessions set reauth_at = null where token_hash = $1", [
      elsewhere.hash,
    ]);
    const { publicKey } = await fixture.gateway.call(passkeys.beginReauth, {}, people.as(who));
    assert.deepEqual(publicKey["allowCredentials"], [
      { id: who.device.id, type: "public-key", transports: ["hybrid", "internal"] },
    ]);
    const assertion = who.device.assert(publicKey as { challenge: string; rpId: string });
    const given = { assertion: assertion as unknown as Record<string, unknown> };
    const proved = await fixture.gateway.call(passkeys.finishReauth, given, people.as(who));
    assert.deepEqual(proved, { ok: true, until: until5() });
    assert.equal((await status(who)).needed, false);
    const there = { ...who, principal: { ...who.principal, session: elsewhere.hash } };
    assert.equal((await status(there)).needed, true);
    fixture.pass(5 * minute);
    assert.equal((await status(who)).needed, true);
  });

  test("with a wrong passkey is audited and counted", async () => {
    const line = 'svc_auth_failures_total{door="reauth",reason="bad_assertion"}';
    const before = await fixture.metric(line);
    const who = await people.holder();
    assert.equal(await people.pass("reauth", who, { isForged: true }), "passkey_login_invalid");
    assert.equal(await fixture.metric(line), before + 1);
    await until(async () => {
      const rows = await fixture.database.admin(
        "select 1 from identity.audit_logs where action = 'auth.reauth.failed' and actor_user_id = $1",
        [who.userId],
      );
      return rows.length === 1;
    });
  });

  test("with a passkey is impossible for an account without one", async () => {
    const person = await unproved();
    const answer = await fixture.refused(passkeys.beginReauth, {}, people.as(person));
    assert.equal(answer.fault, "no_passkey");
  });

  test("works with a mailed code, which works once", async () => {
    const player = await unproved();
    const { expires_at: expiresAt } = await start(player);
    assert.equal(expiresAt, new Date(fixture.now().getTime() + 10 * minute).toISOString());
    await fixture.smtp.awaitMail(player.email);
    const code = fixture.smtp.codeTo(player.email);
    assert.deepEqual(await verify(player, code), { ok: true, until: until5() });
    assert.equal((await status(player)).needed, false);
    assert.equal(await verifyRefused(player, code), "invalid_code");
  });

  test("with a code mailed for another purpose is rejected", async () => {
    const player = await unproved();
    const sent = await fixture.gateway.call(passkeys.startReauthEmail, {}, people.as(player));
    assert.ok(sent.sent);
    await fixture.smtp.awaitMail(player.email);
    await fixture.database.admin("update identity.email_otps set purpose = 'sign_in' where user_id = $1", [
      player.userId,
    ]);
    assert.equal(await verifyRefused(player, fixture.smtp.codeTo(player.email)), "invalid_code");
    assert.equal((await status(player)).needed, true);
  });

  test("a new code replaces the previous one, at most once a minute", async () => {
    const player = await unproved();
    await start(player);
    await fixture.smtp.awaitMail(player.email);
    const first = fixture.smtp.codeTo(player.email);
    assert.deepEqual(await startRefused(player), { fault: "otp_resend_cooldown", retryAfterSeconds: 60 });
    fixture.pass(minute);
    await start(player);
    await fixture.smtp.awaitMail(player.email, 2);
    const second = fixture.smtp.codeTo(player.email);
    if (first !== second) assert.equal(await verifyRefused(player, first), "invalid_code");
    await verify(player, second);
  });

  test("five wrong attempts invalidate a code, ten lock the account's codes, and a passkey still works", async () => {
    const who = await unprovedSession(await people.holder());
    const code = async (mails: number) => {
      await start(who);
      await fixture.smtp.awaitMail(who.email, mails);
      return fixture.smtp.codeTo(who.email);
    };
    // The first mail was about the passkey.
    const first = await code(2);
    for (let tries = 0; tries < 5; tries++)
      assert.equal(await verifyRefused(who, wrong(first)), "invalid_code");
    assert.equal(await verifyRefused(who, first), "otp_locked");
    fixture.pass(minute);
    const second = await code(3);
    for (let tries = 0; tries < 5; tries++) await verifyRefused(who, wrong(second));
    assert.equal(await verifyRefused(who, second), "otp_account_locked");
    assert.equal((await startRefused(who)).fault, "otp_account_locked");
    assert.equal(await people.pass("reauth", who), undefined);
  });

  test("a code sent to an earlier address of the account is rejected", async () => {
    const player = await unproved();
    await start(player);
    await fixture.smtp.awaitMail(player.email);
    await fixture.database.admin("update identity.users set email = 'elsewhere@example.org' where id = $1", [
      player.userId,
    ]);
    assert.equal(await verifyRefused(player, fixture.smtp.codeTo(player.email)), "invalid_code");
  });

  test("operators cannot use a mailed code", async () => {
    for (const role of ["admin", "owner"] as const) {
      const staff = await unproved({ role });
      assert.equal((await startRefused(staff)).fault, "staff_reauth");
      assert.equal(await verifyRefused(staff, "000000"), "staff_reauth");
      assert.equal(fixture.smtp.mails.filter(({ to }) => to === staff.email).length, 0);
    }
  });

  test("a player without a verified address has no factor", async () => {
    const player = await unproved({ emailVerified: false });
    assert.equal((await startRefused(player)).fault, "no_step_up_factor");
    assert.equal(await verifyRefused(player, "000000"), "no_step_up_factor");
  });

  test("a session that ended in the meantime gets no proof, and the code is kept", async () => {
    const player = await unproved();
    await start(player);
    await fixture.smtp.awaitMail(player.email);
    const code = fixture.smtp.codeTo(player.email);
    const other = await fixture.session(player.userId);
    await fixture.database.admin("update identity.sessions set revoked_at = now() where token_hash = $1", [
      player.session,
    ]);
    assert.equal(await verifyRefused(player, code), "no_session");
    const there = { ...player, principal: { ...player.principal, session: other.hash } };
    await verify(there, code);
    const who = await people.holder();
    const { options } = await people.begin("reauth", who);
    await fixture.database.admin("update identity.sessions set revoked_at = now() where token_hash = $1", [
      who.session,
    ]);
    const assertion = who.device.assert(options);
    assert.equal(await people.finish("reauth", who, { loginId: "", assertion }), "no_session");
  });
});

test("without a mail relay no code is sent, and a verified address does not require a proof", async () => {
  const fixture = await startFixture({ hasRelay: false });
  try {
    const person = await fixture.person({
      ...{ email: "relayless@example.org", emailVerified: true, door: "bind", isProof: false },
    });
    const as = { principal: person.principal };
    assert.equal((await fixture.refused(passkeys.startReauthEmail, {}, as)).fault, "mail_unavailable");
    assert.deepEqual(await fixture.gateway.call(passkeys.reauthStatus, {}, as), {
      needed: false,
      factors: [],
    });
  } finally {
    await fixture.stop();
  }
});
