import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { until } from "@svc/mesh/testing";
import { isFault, signIn } from "@svc/proto";
import { type Fixture, type Person, startFixture, stateOf } from "../testing/fixture.ts";
import { anonymous, createSignInClient, newAddress, wrong } from "../testing/sign-in-client.ts";

const minute = 60_000;

describe("sign-in with mailed codes", () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture({
      set: ["smtp.max_per_hour=1000000", "identity.mail_recipient_burst=1000"],
    });
  });
  after(() => fixture.stop());
  const { options, start, verify, refused, holder, mailed, auditOf, settled } = createSignInClient(
    () => fixture,
  );

  test("a known and an unknown address get the same response, at once and within the minute", async () => {
    const { email } = await holder();
    const [known, unknown] = [await start(email), await start(newAddress())];
    assert.deepEqual(known, unknown);
    assert.equal(Date.parse(known.expires_at), fixture.now().getTime() + 10 * minute);
    const other = newAddress();
    const first = [await start(email), await start(other)];
    fixture.pass(59_000);
    const again = [await start(email), await start(other)];
    assert.deepEqual(again, first);
    assert.equal(await settled(email), 1);
  });

  test("the responses for a known and an unknown address have the same bytes", async () => {
    const { email } = await holder();
    const ask = (address: string) =>
      fixture.gateway.forward(signIn.startEmail, { email: address }, options());
    const [known, unknown] = [await ask(email), await ask(newAddress())];
    assert.deepEqual(Buffer.from(known.body), Buffer.from(unknown.body));
    assert.deepEqual(Object.keys(known), Object.keys(unknown));
    const received = async (address: string) => {
      const reply = fixture.gateway.forward(
        signIn.verifyEmail,
        { email: address, code: "000000" },
        options(),
      );
      const error: unknown = await reply.catch((reason: unknown) => reason);
      assert.ok(isFault(error));
      return { fault: error.fault, message: error.message, wait: error.retryAfterSeconds };
    };
    await fixture.smtp.awaitMail(email);
    assert.deepEqual(await received(email), await received(newAddress()));
  });

  test("an address gets one mail within a minute, however it is spelled", async () => {
    const { email } = await mailed();
    fixture.pass(59_000);
    await start(email.toUpperCase());
    assert.equal(await settled(email), 1);
    fixture.pass(1_000);
    await start(email.toUpperCase());
    await fixture.smtp.awaitMail(email, 2);
  });

  test("characters that fold to those of an address only here, or only in the database, match no account", async () => {
    const { email } = await holder();
    for (const [plain, strange] of [
      ["i", "\u0130"],
      ["l", "\uff4c"],
      ["a", "\u0430"],
    ] as const) {
      await start(email.replace(plain, strange));
      fixture.pass(minute);
    }
    assert.equal(await settled(email), 0);
  });

  test("parallel starts send one mail", async () => {
    const { email } = await holder();
    await Promise.all([1, 2, 3, 4, 5].map(() => start(email)));
    assert.equal(await settled(email), 1);
  });

  test("rejections are audited with their reason", async () => {
    const { email, code, person } = await mailed();
    await refused(email, wrong(code));
    await refused(newAddress(), "123456");
    await until(async () => {
      const entries = await auditOf("auth.email.failed");
      const isOf = (reason: string, id: string | null) =>
        entries.some(
          ({ payload, actor_user_id }) =>
            (payload as { reason: string }).reason === reason && actor_user_id === id,
        );
      return isOf("bad_code", person.userId) && isOf("no_account", null);
    });
  });

  test("an unverified address, or one of a disabled or deleted account, is treated as unknown", async () => {
    const unverified = newAddress();
    await fixture.person({ email: unverified });
    const disabled = await holder();
    const deleted = await holder();
    const change = (set: string, { person }: { person: Person }) =>
      fixture.database.admin(`update identity.users set ${set} where id = $1`, [person.userId]);
    await change("disabled = true", disabled);
    await change("deleted_at = now()", deleted);
    for (const email of [unverified, disabled.email, deleted.email]) {
      await start(email);
      assert.equal(await settled(email), 0);
      assert.equal(await refused(email, "123456"), "invalid_code");
    }
  });

  test("a code goes to the address that was verified, not to the spelling that was typed", async () => {
    const { email } = await holder();
    await start(email.toUpperCase());
    assert.equal((await fixture.smtp.awaitMail(email)).to, email);
    assert.equal(await settled(email.toUpperCase()), 0);
  });

  test("a mail is in the language of the account", async () => {
    const { email, person } = await holder();
    await fixture.database.admin("update identity.users set language = 'zh' where id = $1", [person.userId]);
    await start(email);
    const mail = await fixture.smtp.awaitMail(email);
    assert.match(mail.subject, /^=\?UTF-8\?/);
    const body = mail.source.replace(/=\r?\n/g, "");
    const words = Buffer.from(
      /base64\r\n\r\n([A-Za-z0-9+/=\r\n]+)/.exec(mail.source)?.[1] ??
        body.replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
      /base64\r\n\r\n/.test(mail.source) ? "base64" : "latin1",
    ).toString();
    assert.match(words, /您的登录验证码是/);
  });

  test("a relay that rejects our sender is 502 for every address alike, and releases the cooldown", async () => {
    const { email } = await holder();
    fixture.smtp.refuseSenderWith = "5.7.1 no relaying 4711";
    for (const address of [email, newAddress()]) {
      const error: unknown = await start(address).catch((reason: unknown) => reason);
      assert.ok(isFault(error));
      assert.deepEqual(
        [error.fault, error.message],
        ["mail_undeliverable", "The mail relay refused the message."],
      );
    }
    fixture.smtp.refuseSenderWith = undefined;
    await start(email);
    await fixture.smtp.awaitMail(email);
  });

  test("a recipient that the relay rejects is counted and not revealed", async () => {
    const { email } = await holder();
    const failed = 'svc_mail_total{kind="code",result="failed"}';
    const before = await fixture.metric(failed);
    fixture.smtp.refuseWith = "5.1.1 no such mailbox";
    const answers = [await start(email), await start(newAddress())];
    assert.deepEqual(answers[0], answers[1]);
    await until(async () => (await fixture.metric(failed)) === before + 1);
    fixture.smtp.refuseWith = undefined;
    assert.equal(await refused(email, "123456"), "invalid_code");
  });

  test("an address that a mail program could parse as several is rejected", async () => {
    const answer = await fixture.refused(signIn.startEmail, { email: "a,b@example.org" }, options());
    assert.equal(answer.fault, "bad_request");
  });

  test("the options list the methods of an address, and no mail is sent", async () => {
    const { email } = await holder();
    const ask = (address: string) => fixture.gateway.call(signIn.options, { email: address }, options());
    assert.deepEqual(await ask(email), { methods: ["email_otp"] });
    assert.deepEqual(await ask(newAddress()), { methods: [] });
    const staff = await holder({ role: "owner" });
    assert.deepEqual(await ask(staff.email), { methods: ["email_otp"] });
    assert.equal(await settled(email), 0);
  });

  test("a passkey is listed first, and only where there is one", async () => {
    const { email, person } = await holder();
    await fixture.database.admin(
      `insert into identity.webauthn_credentials (id, user_id, credential_id, public_key, created_at)
       values ($1, $1, $1, '', now())`,
      [person.userId],
    );
    const ask = (address: string) => fixture.gateway.call(signIn.options, { email: address }, options());
    assert.deepEqual(await ask(email), { methods: ["passkey", "email_otp"] });
  });

  test("without the database every endpoint is 503 and sessions survive", async () => {
    const { email, code, person } = await mailed();
    await fixture.wire.cut();
    try {
      for (const [contract, input] of [
        [signIn.options, { email }],
        [signIn.startEmail, { email: newAddress() }],
        [signIn.verifyEmail, { email, code }],
        [signIn.finishOpLogin, { request_id: "x", code }],
        [signIn.passwordLogin, { username: "a", password: "b" }],
      ] as const) {
        const answer = await fixture.refused(contract, input as never, options());
        assert.equal(answer.fault, "unavailable", contract.subject);
      }
    } finally {
      await fixture.wire.recover();
    }
    await until(
      async () => (await stateOf(fixture, person.session).catch(() => undefined))?.state === "live",
    );
    assert.ok((await verify(email, code)).session);
  });
});

describe("an installation without a relay", () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture({ hasRelay: false });
  });
  after(() => fixture.stop());

  test("answers 503 at every endpoint with codes, and does not offer codes", async () => {
    const email = newAddress();
    await fixture.person({ email, emailVerified: true });
    for (const address of [email, newAddress()]) {
      const given = { principal: anonymous };
      for (const contract of [signIn.startEmail, signIn.startOpLogin])
        assert.equal((await fixture.refused(contract, { email: address }, given)).fault, "mail_unavailable");
      assert.deepEqual(await fixture.gateway.call(signIn.options, { email: address }, given), {
        methods: [],
      });
    }
  });
});
