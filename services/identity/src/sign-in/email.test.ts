import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { until } from "@svc/mesh/testing";
import { accounts, signIn } from "@svc/proto";
import { type Fixture, startFixture } from "../testing/fixture.ts";
import { createSignInClient, newAddress, wrong } from "../testing/sign-in-client.ts";

const minute = 60_000;
const hour = 60 * minute;

describe("signing in with a mailed code", () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture({
      set: ["smtp.max_per_hour=1000000", "identity.mail_recipient_burst=1000"],
    });
  });
  after(() => fixture.stop());
  const { options, start, verify, refused, holder, mailed, several, auditOf, settled } = createSignInClient(
    () => fixture,
  );

  const lock = async (email: string) => {
    for (let round = 0; round < 2; round++) {
      const before = fixture.smtp.mails.filter(({ to }) => to === email).length;
      await start(email);
      await fixture.smtp.awaitMail(email, before + 1);
      const code = fixture.smtp.codeTo(email);
      for (let tries = 0; tries < 5; tries++) assert.equal(await refused(email, wrong(code)), "invalid_code");
      fixture.pass(minute);
    }
  };

  test("the correct code signs the player in and counts as a proof", async () => {
    const { email, code, person } = await mailed();
    const reply = await verify(email, code);
    assert.deepEqual(JSON.parse(Buffer.from(reply.body).toString()), {
      user_id: person.userId,
      role: "user",
    });
    assert.match(reply.session?.value ?? "", /^[A-Za-z0-9_-]{43}$/);
    const rows = await fixture.database.admin(
      "select door, reauth_at from identity.sessions where user_id = $1 and door = 'email'",
      [person.userId],
    );
    assert.deepEqual(rows, [{ door: "email", reauth_at: fixture.now() }]);
    await until(async () => (await auditOf("auth.email.login")).length > 0);
  });

  test("sets the language of mails to that of the browser, if the browser sends one", async () => {
    const { email, person, code } = await mailed();
    const languageOf = async () =>
      (await fixture.database.admin("select language from identity.users where id = $1", [person.userId]))[0];
    const client = { address: "198.51.100.251", userAgent: "browser", language: "zh" } as const;
    const enter = { ...options(), client };
    assert.equal(
      (await fixture.refused(signIn.verifyEmail, { email, code: wrong(code) }, enter)).fault,
      "invalid_code",
    );
    assert.deepEqual(await languageOf(), { language: "en" });
    await fixture.gateway.forward(signIn.verifyEmail, { email, code }, enter);
    assert.deepEqual(await languageOf(), { language: "zh" });
    fixture.pass(minute);
    await start(email);
    // The text is encoded, and the encoder decides whether digits stay readable; the language header is always readable.
    assert.match((await fixture.smtp.awaitMail(email, 2)).source, /zh-Hans|emgtSGFucy/);
    assert.deepEqual(await languageOf(), { language: "zh" });
  });

  for (const index of [0, 1, 2]) {
    test(`of the three newest codes number ${index + 1} works and invalidates the others`, async () => {
      const { email, codes } = await several(3);
      const code = codes[index] ?? "";
      assert.ok((await verify(email, code)).session);
      for (const spent of codes) assert.equal(await refused(email, spent), "invalid_code");
    });
  }

  test("the fourth newest code is invalid", async () => {
    const { email, codes } = await several(4);
    assert.equal(await refused(email, codes[0] ?? ""), "invalid_code");
    assert.ok((await verify(email, codes[3] ?? "")).session);
  });

  test("a code expires after ten minutes", async () => {
    const { email, code } = await mailed();
    fixture.pass(10 * minute);
    assert.equal(await refused(email, code), "invalid_code");
  });

  test("five wrong attempts invalidate a code, and a new one works", async () => {
    const { email, code } = await mailed();
    for (let tries = 0; tries < 5; tries++) assert.equal(await refused(email, wrong(code)), "invalid_code");
    assert.equal(await refused(email, code), "invalid_code");
    fixture.pass(minute);
    await start(email);
    await fixture.smtp.awaitMail(email, 2);
    assert.ok((await verify(email, fixture.smtp.codeTo(email))).session);
  });

  test("of parallel uses of one code one succeeds", async () => {
    const { email, code } = await mailed();
    const answers = await Promise.allSettled(Array.from({ length: 10 }, () => verify(email, code)));
    assert.equal(answers.filter(({ status }) => status === "fulfilled").length, 1);
  });

  test("ten wrong codes lock the account: one mail, one audit entry, the same responses as before", async () => {
    const { email, person } = await holder();
    const lockouts = 'svc_auth_otp_lockouts_total{purpose="sign_in"}';
    const before = await fixture.metric(lockouts);
    await lock(email);
    const answer = await start(email);
    assert.equal(Date.parse(answer.expires_at), fixture.now().getTime() + 10 * minute);
    const mails = () => fixture.smtp.mails.filter(({ to }) => to === email).map(({ subject }) => subject);
    await until(() => mails().includes("Codes are locked for your account"));
    assert.equal(await settled(email), 3);
    assert.equal(await fixture.metric(lockouts), before + 1);
    await until(async () =>
      (await auditOf("auth.otp.locked")).some(({ actor_user_id }) => actor_user_id === person.userId),
    );
    fixture.pass(24 * hour);
    await start(email);
    await fixture.smtp.awaitMail(email, 4);
    assert.ok((await verify(email, fixture.smtp.codeTo(email))).session);
  });

  test("wrong codes of all purposes count together, and a lockout is reported before a cooldown", async () => {
    const { email, code, person } = await mailed();
    for (let tries = 0; tries < 5; tries++) await refused(email, wrong(code));
    const given = { principal: person.principal };
    const other = newAddress();
    await fixture.gateway.call(accounts.startEmail, { email: other }, given);
    const own = fixture.smtp.codeTo(other);
    const tryOwn = () => fixture.refused(accounts.verifyEmail, { code: wrong(own) }, given);
    for (let tries = 0; tries < 5; tries++) assert.equal((await tryOwn()).fault, "invalid_code");
    const locked = { fault: "otp_account_locked", retryAfterSeconds: 24 * 3_600 };
    assert.deepEqual(await tryOwn(), locked);
    assert.deepEqual(await fixture.refused(accounts.startEmail, { email: other }, given), locked);
    const subjects = () => fixture.smtp.mails.filter(({ to }) => to === email).map(({ subject }) => subject);
    await until(() => subjects().includes("Codes are locked for your account"));
  });

  test("a correct code of a locked account is invalid", async () => {
    const { email, codes, person } = await several(2);
    await fixture.store.db
      .insertInto("otp_failure_windows")
      .values({ user_id: person.userId, purpose: "any", window_start: fixture.now(), failures: 10 })
      .execute();
    assert.equal(await refused(email, codes[1] ?? ""), "invalid_code");
  });

  test("staff are referred to the operator login only after a valid code, which is spent", async () => {
    const { email, code } = await mailed({ role: "admin" });
    assert.equal(await refused(email, wrong(code)), "invalid_code");
    assert.equal(await refused(email, code), "staff_account");
    assert.equal(await refused(email, code), "invalid_code");
    await until(async () =>
      (await auditOf("auth.email.failed")).some(
        ({ payload }) => (payload as { reason: string }).reason === "staff_account",
      ),
    );
  });

  test("codes mailed to an address are invalid once the address changes", async () => {
    const { email, code, person } = await mailed();
    await fixture.gateway.call(accounts.enterEmail, { email: newAddress() }, { principal: person.principal });
    await fixture.database.admin(
      "update identity.users set email = $2, email_verified = true where id = $1",
      [person.userId, email],
    );
    assert.equal(await refused(email, code), "invalid_code");
  });
});
