import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { until } from "@svc/mesh/testing";
import { accounts, isFault, signIn } from "@svc/proto";
import { type Bed, type NewPerson, type Person, startBed, stateOf } from "../testing/bed.ts";

const minute = 60_000;
const hour = 60 * minute;
const anonymous = { kind: "anonymous" } as const;
let number = 0;
const newAddress = () => `mail${++number}@example.org`;
const wrong = (code: string) => (code === "000000" ? "000001" : "000000");

describe("signing in with a mailed code", () => {
  let bed: Bed;
  before(async () => {
    bed = await startBed({ set: ["smtp.max_per_hour=1000000", "identity.mail_recipient_burst=1000"] });
  });
  after(() => bed.stop());

  const client = () => ({ address: `198.51.100.${++number % 250}`, userAgent: "browser" });
  const options = () => ({ principal: anonymous, client: client() });
  const start = (email: string) => bed.gateway.call(signIn.startEmail, { email }, options());
  const verify = (email: string, code: string) =>
    bed.gateway.forward(signIn.verifyEmail, { email, code }, options());
  const refused = async (email: string, code: string) =>
    (await bed.refused(signIn.verifyEmail, { email, code }, options())).fault;
  const holder = async (about: NewPerson = {}) => {
    const email = newAddress();
    return { email, person: await bed.person({ email, emailVerified: true, ...about }) };
  };
  const mailed = async (about: NewPerson = {}) => {
    const given = await holder(about);
    await start(given.email);
    await bed.smtp.awaitMail(given.email);
    return { ...given, code: bed.smtp.codeTo(given.email) };
  };
  /** The codes of `count` mails, a minute apart, oldest first. */
  const several = async (count: number) => {
    const { email, person, code } = await mailed();
    const codes = [code];
    while (codes.length < count) {
      bed.pass(minute);
      await start(email);
      await bed.smtp.awaitMail(email, codes.length + 1);
      codes.push(bed.smtp.codeTo(email));
    }
    return { email, person, codes };
  };
  const auditOf = async (action: string) =>
    (
      await bed.database.admin("select * from identity.audit_logs where action = $1 order by id", [action])
    ).map(({ payload, actor_user_id }) => ({ payload, actor_user_id }));
  /** Nothing was mailed though everything that a start sets off has ended. */
  const settled = async (email: string) => {
    const mark = await holder();
    await start(mark.email);
    await bed.smtp.awaitMail(mark.email);
    return bed.smtp.mails.filter(({ to }) => to === email).length;
  };
  const lock = async (email: string) => {
    for (let round = 0; round < 2; round++) {
      const before = bed.smtp.mails.filter(({ to }) => to === email).length;
      await start(email);
      await bed.smtp.awaitMail(email, before + 1);
      const code = bed.smtp.codeTo(email);
      for (let tries = 0; tries < 5; tries++) assert.equal(await refused(email, wrong(code)), "invalid_code");
      bed.pass(minute);
    }
  };

  test("the right code signs the player in and counts as reauthentication", async () => {
    const { email, code, person } = await mailed();
    const reply = await verify(email, code);
    assert.deepEqual(JSON.parse(Buffer.from(reply.body).toString()), {
      user_id: person.userId,
      role: "user",
    });
    assert.match(reply.session?.value ?? "", /^[A-Za-z0-9_-]{43}$/);
    const rows = await bed.database.admin(
      "select door, reauth_at from identity.sessions where user_id = $1 and door = 'email'",
      [person.userId],
    );
    assert.deepEqual(rows, [{ door: "email", reauth_at: bed.now() }]);
    await until(async () => (await auditOf("auth.email.login")).length > 0);
  });

  test("a known and an unknown address get the same answer, now and within the minute", async () => {
    const { email } = await holder();
    const [known, unknown] = [await start(email), await start(newAddress())];
    assert.deepEqual(known, unknown);
    assert.equal(Date.parse(known.expires_at), bed.now().getTime() + 10 * minute);
    const other = newAddress();
    const first = [await start(email), await start(other)];
    bed.pass(59_000);
    const again = [await start(email), await start(other)];
    assert.deepEqual(again, first);
    assert.equal(await settled(email), 1);
  });

  test("the answers for a known and an unknown address have the same bytes", async () => {
    const { email } = await holder();
    const ask = (address: string) => bed.gateway.forward(signIn.startEmail, { email: address }, options());
    const [known, unknown] = [await ask(email), await ask(newAddress())];
    assert.deepEqual(Buffer.from(known.body), Buffer.from(unknown.body));
    assert.deepEqual(Object.keys(known), Object.keys(unknown));
    const told = async (address: string) => {
      const reply = bed.gateway.forward(signIn.verifyEmail, { email: address, code: "000000" }, options());
      const error: unknown = await reply.catch((reason: unknown) => reason);
      assert.ok(isFault(error));
      return { fault: error.fault, message: error.message, wait: error.retryAfterSeconds };
    };
    await bed.smtp.awaitMail(email);
    assert.deepEqual(await told(email), await told(newAddress()));
  });

  test("one mail goes to an address within a minute, however it is spelled", async () => {
    const { email } = await mailed();
    bed.pass(59_000);
    await start(email.toUpperCase());
    assert.equal(await settled(email), 1);
    bed.pass(1_000);
    await start(email.toUpperCase());
    await bed.smtp.awaitMail(email, 2);
  });

  test("parallel starts send one mail", async () => {
    const { email } = await holder();
    await Promise.all([1, 2, 3, 4, 5].map(() => start(email)));
    assert.equal(await settled(email), 1);
  });

  for (const index of [0, 1, 2]) {
    test(`of the three newest codes number ${index + 1} works and spends the others`, async () => {
      const { email, codes } = await several(3);
      const code = codes[index] ?? "";
      assert.ok((await verify(email, code)).session);
      for (const spent of codes) assert.equal(await refused(email, spent), "invalid_code");
    });
  }

  test("the fourth newest code works no more", async () => {
    const { email, codes } = await several(4);
    assert.equal(await refused(email, codes[0] ?? ""), "invalid_code");
    assert.ok((await verify(email, codes[3] ?? "")).session);
  });

  test("a code ends after ten minutes", async () => {
    const { email, code } = await mailed();
    bed.pass(10 * minute);
    assert.equal(await refused(email, code), "invalid_code");
  });

  test("five wrong tries kill a code, and a new one works", async () => {
    const { email, code } = await mailed();
    for (let tries = 0; tries < 5; tries++) assert.equal(await refused(email, wrong(code)), "invalid_code");
    assert.equal(await refused(email, code), "invalid_code");
    bed.pass(minute);
    await start(email);
    await bed.smtp.awaitMail(email, 2);
    assert.ok((await verify(email, bed.smtp.codeTo(email))).session);
  });

  test("of parallel redeems of one code one wins", async () => {
    const { email, code } = await mailed();
    const answers = await Promise.allSettled(Array.from({ length: 10 }, () => verify(email, code)));
    assert.equal(answers.filter(({ status }) => status === "fulfilled").length, 1);
  });

  test("ten wrong codes lock the account: one letter, one audit entry, the same answers as before", async () => {
    const { email, person } = await holder();
    const lockouts = 'svc_auth_otp_lockouts_total{purpose="sign_in"}';
    const before = await bed.metric(lockouts);
    await lock(email);
    const answer = await start(email);
    assert.equal(Date.parse(answer.expires_at), bed.now().getTime() + 10 * minute);
    const mails = () => bed.smtp.mails.filter(({ to }) => to === email).map(({ subject }) => subject);
    await until(() => mails().includes("Codes are locked for your account"));
    assert.equal(await settled(email), 3);
    assert.equal(await bed.metric(lockouts), before + 1);
    await until(async () =>
      (await auditOf("auth.otp.locked")).some(({ actor_user_id }) => actor_user_id === person.userId),
    );
    bed.pass(24 * hour);
    await start(email);
    await bed.smtp.awaitMail(email, 4);
    assert.ok((await verify(email, bed.smtp.codeTo(email))).session);
  });

  test("wrong codes of all purposes count together, and a lock is told before a wait", async () => {
    const { email, code, person } = await mailed();
    for (let tries = 0; tries < 5; tries++) await refused(email, wrong(code));
    const given = { principal: person.principal };
    const other = newAddress();
    await bed.gateway.call(accounts.startEmail, { email: other }, given);
    const own = bed.smtp.codeTo(other);
    const tryOwn = () => bed.refused(accounts.verifyEmail, { code: wrong(own) }, given);
    for (let tries = 0; tries < 5; tries++) assert.equal((await tryOwn()).fault, "invalid_code");
    const locked = { fault: "otp_account_locked", retryAfterSeconds: 24 * 3_600 };
    assert.deepEqual(await tryOwn(), locked);
    assert.deepEqual(await bed.refused(accounts.startEmail, { email: other }, given), locked);
    const subjects = () => bed.smtp.mails.filter(({ to }) => to === email).map(({ subject }) => subject);
    await until(() => subjects().includes("Codes are locked for your account"));
  });

  test("a right code of a locked account is invalid", async () => {
    const { email, codes, person } = await several(2);
    await bed.store.db
      .insertInto("otp_failure_windows")
      .values({ user_id: person.userId, purpose: "any", window_start: bed.now(), failures: 10 })
      .execute();
    assert.equal(await refused(email, codes[1] ?? ""), "invalid_code");
  });

  test("staff are told of their own door only after a valid code, which is spent", async () => {
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

  test("refusals are audited by their reason", async () => {
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

  test("an address that is not verified, or whose account is disabled or deleted, is as an unknown one", async () => {
    const unverified = newAddress();
    await bed.person({ email: unverified });
    const disabled = await holder();
    const deleted = await holder();
    const change = (set: string, { person }: { person: Person }) =>
      bed.database.admin(`update identity.users set ${set} where id = $1`, [person.userId]);
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
    assert.equal((await bed.smtp.awaitMail(email)).to, email);
    assert.equal(await settled(email.toUpperCase()), 0);
  });

  test("a letter is in the language of the account", async () => {
    const { email, person } = await holder();
    await bed.database.admin("update identity.users set language = 'zh' where id = $1", [person.userId]);
    await start(email);
    const mail = await bed.smtp.awaitMail(email);
    assert.match(mail.subject, /^=\?UTF-8\?/);
    const body = mail.source.replace(/=\r?\n/g, "");
    const words = Buffer.from(
      /base64\r\n\r\n([A-Za-z0-9+/=\r\n]+)/.exec(mail.source)?.[1] ??
        body.replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
      /base64\r\n\r\n/.test(mail.source) ? "base64" : "latin1",
    ).toString();
    assert.match(words, /您的登录验证码是/);
  });

  test("a relay that refuses us is 502 for every address alike, and gives the wait back", async () => {
    const { email } = await holder();
    bed.smtp.refuseSenderWith = "5.7.1 no relaying 4711";
    for (const address of [email, newAddress()]) {
      const error: unknown = await start(address).catch((reason: unknown) => reason);
      assert.ok(isFault(error));
      assert.deepEqual(
        [error.fault, error.message],
        ["mail_undeliverable", "The mail relay refused the message."],
      );
    }
    bed.smtp.refuseSenderWith = undefined;
    await start(email);
    await bed.smtp.awaitMail(email);
  });

  test("a refusal of one recipient is counted and told to nobody", async () => {
    const { email } = await holder();
    const failed = 'svc_mail_total{kind="code",result="failed"}';
    const before = await bed.metric(failed);
    bed.smtp.refuseWith = "5.1.1 no such mailbox";
    const answers = [await start(email), await start(newAddress())];
    assert.deepEqual(answers[0], answers[1]);
    await until(async () => (await bed.metric(failed)) === before + 1);
    bed.smtp.refuseWith = undefined;
    assert.equal(await refused(email, "123456"), "invalid_code");
  });

  test("an address that a mail program would read as several is refused", async () => {
    const answer = await bed.refused(signIn.startEmail, { email: "a,b@example.org" }, options());
    assert.equal(answer.fault, "bad_request");
  });

  test("codes that were mailed to an address end with the address", async () => {
    const { email, code, person } = await mailed();
    await bed.gateway.call(accounts.enterEmail, { email: newAddress() }, { principal: person.principal });
    await bed.database.admin("update identity.users set email = $2, email_verified = true where id = $1", [
      person.userId,
      email,
    ]);
    assert.equal(await refused(email, code), "invalid_code");
  });

  test("what an address can do is told by options, and sends no mail", async () => {
    const { email } = await holder();
    const ask = (address: string) => bed.gateway.call(signIn.options, { email: address }, options());
    assert.deepEqual(await ask(email), { methods: ["email_otp"] });
    assert.deepEqual(await ask(newAddress()), { methods: [] });
    const staff = await holder({ role: "owner" });
    assert.deepEqual(await ask(staff.email), { methods: ["email_otp"] });
    assert.equal(await settled(email), 0);
  });

  test("without the database every door is 503 and sessions survive", async () => {
    const { email, code, person } = await mailed();
    await bed.wire.cut();
    try {
      for (const [contract, input] of [
        [signIn.options, { email }],
        [signIn.startEmail, { email: newAddress() }],
        [signIn.verifyEmail, { email, code }],
        [signIn.finishOpLogin, { request_id: "x", code }],
        [signIn.passwordLogin, { username: "a", password: "b" }],
      ] as const) {
        const answer = await bed.refused(contract, input as never, options());
        assert.equal(answer.fault, "unavailable", contract.subject);
      }
    } finally {
      await bed.wire.mend();
    }
    await until(async () => (await stateOf(bed, person.session).catch(() => undefined))?.state === "live");
    assert.ok((await verify(email, code)).session);
  });
});

describe("an installation without a relay", () => {
  let bed: Bed;
  before(async () => {
    bed = await startBed({ hasRelay: false });
  });
  after(() => bed.stop());

  test("answers 503 at every door with codes, whoever asks, and offers no codes", async () => {
    const email = newAddress();
    await bed.person({ email, emailVerified: true });
    for (const address of [email, newAddress()]) {
      const given = { principal: anonymous };
      for (const contract of [signIn.startEmail, signIn.startOpLogin])
        assert.equal((await bed.refused(contract, { email: address }, given)).fault, "mail_unavailable");
      assert.deepEqual(await bed.gateway.call(signIn.options, { email: address }, given), { methods: [] });
    }
  });
});
