import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { until } from "@svc/mesh/testing";
import { accounts } from "@svc/proto";
import { sha256 } from "../secret.ts";
import { type Fixture, type NewPerson, type Person, startFixture, stateOf } from "../testing/fixture.ts";

const minute = 60_000;
const hour = 60 * minute;
let number = 0;
const newAddress = () => `player${++number}@example.org`;

describe("e-mail codes", () => {
  let fixture: Fixture;
  before(async () => {
    // The budget has its own tests.
    fixture = await startFixture({ set: ["smtp.max_per_hour=100000"] });
  });
  after(() => fixture.stop());

  const start = (person: Person, email: string) =>
    fixture.gateway.call(accounts.startEmail, { email }, { principal: person.principal });
  const verify = (person: Person, code: string) =>
    fixture.gateway.call(accounts.verifyEmail, { code }, { principal: person.principal });
  const startRefused = (person: Person, email: string) =>
    fixture.refused(accounts.startEmail, { email }, { principal: person.principal });
  const verifyRefused = (person: Person, code: string) =>
    fixture.refused(accounts.verifyEmail, { code }, { principal: person.principal });
  const wrong = (code: string) => (code === "000000" ? "000001" : "000000");
  /** A person who was just sent a code. */
  const mailed = async (about: NewPerson = {}) => {
    const [person, email] = [await fixture.person(about), newAddress()];
    await start(person, email);
    return { person, email, code: fixture.smtp.codeTo(email) };
  };
  const account = async (person: Person) => {
    const [row] = await fixture.database.admin(
      "select email, email_verified from identity.users where id = $1",
      [person.userId],
    );
    return row;
  };

  test("a mailed code of six digits verifies the address and counts as a proof", async () => {
    const person = await fixture.person({ isProof: false });
    const email = newAddress();
    const { sent, expires_at } = await start(person, email);
    assert.equal(sent, true);
    assert.equal(Date.parse(expires_at), fixture.now().getTime() + 10 * minute);
    const code = fixture.smtp.codeTo(email);
    assert.deepEqual(await verify(person, ` ${code.slice(0, 3)} ${code.slice(3)} `), {
      verified: true,
      email,
    });
    assert.deepEqual(await account(person), { email, email_verified: true });
    const [session] = await fixture.database.admin(
      "select reauth_at from identity.sessions where user_id = $1",
      [person.userId],
    );
    assert.deepEqual(session?.["reauth_at"], fixture.now());
  });

  test("the mail has the code as text and as HTML, and only its sha-256 is stored", async () => {
    const { code, email, person } = await mailed();
    const mail = await fixture.smtp.awaitMail(email);
    assert.match(mail.source, /text\/plain/);
    assert.match(mail.source, /text\/html/);
    assert.ok(mail.source.includes("10 minutes"));
    const [row] = await fixture.database.admin(
      "select code_hash from identity.email_otps where user_id = $1",
      [person.userId],
    );
    assert.equal(row?.["code_hash"], sha256(code));
  });

  test("a code expires after 10 minutes", async () => {
    const { person, code } = await mailed();
    fixture.pass(10 * minute);
    assert.equal((await verifyRefused(person, code)).fault, "invalid_code");
  });

  test("of parallel uses of a code one succeeds", async () => {
    const { person, code } = await mailed();
    const answers = await Promise.allSettled([1, 2, 3, 4].map(() => verify(person, code)));
    const won = answers.filter((answer) => answer.status === "fulfilled");
    assert.equal(won.length, 1);
    for (const answer of answers)
      if (answer.status === "rejected") assert.equal(answer.reason.fault, "invalid_code");
  });

  test("a code of another account is rejected", async () => {
    const one = await mailed();
    const other = await fixture.person();
    assert.equal((await verifyRefused(other, one.code)).fault, "invalid_code");
  });

  test("after five wrong attempts the correct code is rejected too", async () => {
    const { person, code } = await mailed();
    for (let tries = 0; tries < 5; tries++)
      assert.equal((await verifyRefused(person, wrong(code))).fault, "invalid_code");
    assert.equal((await verifyRefused(person, code)).fault, "otp_locked");
  });

  test("parallel wrong attempts are all counted", async () => {
    const { person, code } = await mailed();
    await Promise.all([1, 2, 3, 4, 5, 6].map(() => verifyRefused(person, wrong(code))));
    assert.equal((await verifyRefused(person, code)).fault, "otp_locked");
    const [row] = await fixture.database.admin(
      "select failures from identity.otp_failure_windows where user_id = $1",
      [person.userId],
    );
    assert.equal(row?.["failures"], 5);
  });

  test("a new code replaces the previous one", async () => {
    const { person, code, email } = await mailed();
    fixture.pass(minute);
    await start(person, email);
    const newer = fixture.smtp.codeTo(email);
    if (newer !== code) assert.equal((await verifyRefused(person, code)).fault, "invalid_code");
    assert.equal((await verify(person, newer)).email, email);
  });

  test("the next code of an account or an address is refused for 60 seconds, with the seconds left", async () => {
    const { person, email } = await mailed();
    fixture.pass(20_000);
    assert.deepEqual(await startRefused(person, newAddress()), {
      fault: "otp_resend_cooldown",
      retryAfterSeconds: 40,
    });
    const other = await fixture.person();
    assert.equal((await startRefused(other, email.toUpperCase())).fault, "otp_resend_cooldown");
    fixture.pass(40_000);
    await start(person, email);
  });

  test("of parallel starts one sends a mail", async () => {
    const [person, email] = [await fixture.person(), newAddress()];
    const answers = await Promise.allSettled([1, 2, 3, 4].map(() => start(person, email)));
    assert.equal(answers.filter((answer) => answer.status === "fulfilled").length, 1);
    assert.equal(fixture.smtp.mails.filter((mail) => mail.to === email).length, 1);
  });

  test("when the relay rejects a mail, the response is 502 without its text, the cooldown is undone and the previous code stays valid", async () => {
    const { person, code, email } = await mailed();
    fixture.pass(minute);
    fixture.smtp.refuseWith = "5.1.1 no such mailbox 4711";
    const before = await fixture.metric('svc_mail_total{kind="code",result="failed"}');
    const refused = await fixture.gateway
      .call(accounts.startEmail, { email }, { principal: person.principal })
      .catch((error: Error) => error.message);
    fixture.smtp.refuseWith = undefined;
    assert.equal(refused, "The mail relay refused the message.");
    assert.equal(await fixture.metric('svc_mail_total{kind="code",result="failed"}'), before + 1);
    assert.equal((await verify(person, code)).email, email);
    fixture.pass(1);
    await start(await fixture.person(), newAddress());
  });

  test("a mail that failed can be requested again at once", async () => {
    const [person, email] = [await fixture.person(), newAddress()];
    fixture.smtp.refuseWith = "4.2.2 full";
    assert.equal((await startRefused(person, email)).fault, "mail_undeliverable");
    fixture.smtp.refuseWith = undefined;
    await start(person, email);
  });

  test("ten wrong codes in 24 hours lock the account's codes until 24 hours after the first", async () => {
    const old = newAddress();
    const { person, code } = await mailed({ email: old, emailVerified: true });
    const lockouts = 'svc_auth_otp_lockouts_total{purpose="onboard_email"}';
    const before = await fixture.metric(lockouts);
    for (let tries = 0; tries < 5; tries++) await verifyRefused(person, wrong(code));
    fixture.pass(hour);
    await fixture.store.db
      .updateTable("sessions")
      .set({ reauth_at: fixture.now() })
      .where("user_id", "=", person.userId)
      .execute();
    const email = newAddress();
    await start(person, email);
    const second = fixture.smtp.codeTo(email);
    for (let tries = 0; tries < 5; tries++)
      assert.equal((await verifyRefused(person, wrong(second))).fault, "invalid_code");
    const locked = { fault: "otp_account_locked", retryAfterSeconds: 23 * 3_600 };
    assert.deepEqual(await verifyRefused(person, second), locked);
    // The lock is reported rather than the cooldown, which applies here too.
    assert.deepEqual(await startRefused(person, email), locked);
    assert.equal(await fixture.metric(lockouts), before + 1);
    const mail = await fixture.smtp.awaitMail(old);
    assert.equal(mail.subject, "Codes are locked for your account");
    await until(async () => (await auditOf(fixture, person)).includes("auth.otp.locked"));
    assert.ok((await auditOf(fixture, person)).includes("auth.account_email.failed"));
    fixture.pass(23 * hour);
    await fixture.store.db
      .updateTable("sessions")
      .set({ reauth_at: fixture.now() })
      .where("user_id", "=", person.userId)
      .execute();
    await start(person, email);
    assert.equal((await verify(person, fixture.smtp.codeTo(email))).email, email);
  });

  test("an address that another account has verified is rejected and the code is kept", async () => {
    const { person, email, code } = await mailed();
    const holder = await fixture.person({ email: email.toUpperCase(), emailVerified: true });
    assert.equal((await verifyRefused(person, code)).fault, "email_taken");
    await fixture.store.db
      .updateTable("users")
      .set({ email_verified: false })
      .where("id", "=", holder.userId)
      .execute();
    assert.equal((await verify(person, code)).email, email);
  });

  test("of two accounts that verify one address at once, one succeeds and the other's code is kept", async () => {
    const email = newAddress();
    const one = await fixture.person();
    await start(one, email);
    const firstCode = fixture.smtp.codeTo(email);
    fixture.pass(minute);
    const two = await fixture.person();
    await start(two, email);
    const secondCode = fixture.smtp.codeTo(email);
    const answers = await Promise.allSettled([verify(one, firstCode), verify(two, secondCode)]);
    assert.deepEqual(answers.map((answer) => answer.status).toSorted(), ["fulfilled", "rejected"]);
    const loser = answers.find((answer) => answer.status === "rejected");
    assert.equal(loser?.status === "rejected" && loser.reason.fault, "email_taken");
  });

  test("a change of a verified address requires a proof of the last 5 minutes", async () => {
    const person = await fixture.person({ email: newAddress(), emailVerified: true });
    fixture.pass(5 * minute);
    assert.equal((await startRefused(person, newAddress())).fault, "reauth_required");
    const fresh = await fixture.person({ email: newAddress(), emailVerified: true, isProof: false });
    assert.equal((await startRefused(fresh, newAddress())).fault, "reauth_required");
  });

  test("a first address requires no proof", async () => {
    const person = await fixture.person({ isProof: false, email: newAddress() });
    await start(person, newAddress());
  });

  test("a change of a verified address ends the other sessions and notifies the old address, with the new one masked", async () => {
    const old = newAddress();
    const { person, email, code } = await mailed({ email: old, emailVerified: true });
    const other = await fixture.session(person.userId);
    await verify(person, code);
    assert.equal((await stateOf(fixture, other.hash)).state, "unknown");
    assert.equal((await stateOf(fixture, person.session)).state, "live");
    const mail = await fixture.smtp.awaitMail(old);
    assert.equal(mail.subject, "Your e-mail address was changed");
    assert.ok(mail.source.includes("p***@e***.org"));
    assert.ok(!mail.source.includes(email));
    await until(async () => (await auditOf(fixture, person)).includes("account.email.verified"));
  });

  test("verifying the same address again ends no session", async () => {
    const email = newAddress();
    const person = await fixture.person({ email, emailVerified: true });
    const other = await fixture.session(person.userId);
    const louder = email.replace("player", "PLAYER");
    await start(person, louder);
    await verify(person, fixture.smtp.codeTo(louder));
    assert.equal((await stateOf(fixture, other.hash)).state, "live");
  });

  test("a mail about a change is queued while the relay rejects it, and is sent later", async () => {
    const old = newAddress();
    const { person, code } = await mailed({ email: old, emailVerified: true });
    fixture.smtp.refuseWith = "4.3.0 later";
    await verify(person, code);
    const attempts = async () =>
      (
        await fixture.database.admin("select attempts from identity.mail_notices where recipient = $1", [old])
      )[0]?.["attempts"];
    await until(async () => (await attempts()) === 1);
    fixture.smtp.refuseWith = undefined;
    fixture.pass(hour);
    await verifyAnother(fixture, mailed, verify);
    await fixture.smtp.awaitMail(old);
    await until(async () => (await attempts()) === undefined);
  });

  test("an address that could be parsed as several is rejected", async () => {
    const answer = await startRefused(await fixture.person(), "a,b@example.org");
    assert.equal(answer.fault, "bad_request");
  });

  test("an account that was disabled in the meantime is rejected", async () => {
    const { person, code } = await mailed();
    await fixture.database.admin("update identity.users set disabled = true where id = $1", [person.userId]);
    assert.equal((await verifyRefused(person, code)).fault, "unauthorized");
    assert.equal((await startRefused(person, newAddress())).fault, "unauthorized");
  });
});

describe("the mail budget", () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture({ set: ["smtp.max_per_hour=20"] });
  });
  after(() => fixture.stop());

  test("a burst of a quarter of the hour's budget is allowed, then the response has the wait and the cooldown is undone", async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const person = await fixture.person();
        const email = newAddress();
        const principal = person.principal;
        const outcome = await fixture.gateway.call(accounts.startEmail, { email }, { principal }).then(
          () => "sent",
          (error: { fault: string; retryAfterSeconds: number }) =>
            `${error.fault} ${error.retryAfterSeconds}`,
        );
        return { principal, email, outcome };
      }),
    );
    assert.equal(answers.filter(({ outcome }) => outcome === "sent").length, 5);
    const waiting = answers.filter(({ outcome }) => outcome === "mail_rate_limited 180");
    assert.equal(waiting.length, 3);
    assert.equal(await fixture.metric('svc_mail_total{kind="code",result="throttled"}'), 3);
    fixture.pass(180_000);
    const next = waiting[0];
    assert.ok(next);
    await fixture.gateway.call(accounts.startEmail, { email: next.email }, { principal: next.principal });
  });
});

describe("an installation without a relay", () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture({ hasRelay: false });
  });
  after(() => fixture.stop());

  test("sends no codes to anybody", async () => {
    const person = await fixture.person({ email: "a@example.org", emailVerified: true, isProof: false });
    const options = { principal: person.principal };
    const answer = await fixture.refused(accounts.startEmail, { email: "b@example.org" }, options);
    assert.equal(answer.fault, "mail_unavailable");
  });

  test("does not count an e-mail address as a way in", async () => {
    const owner = await fixture.person({ role: "owner", email: "c@example.org", emailVerified: true });
    const answer = await stateOf(fixture, owner.session);
    assert.ok(answer.state === "live" && answer.setup);
  });
});

async function auditOf(fixture: Fixture, person: Person): Promise<unknown[]> {
  const rows = await fixture.database.admin(
    "select action from identity.audit_logs where actor_user_id = $1",
    [person.userId],
  );
  return rows.map((row) => row["action"]);
}

type Mailed = { person: Person; code: string };

/** Adding a mail notifies the sender. */
async function verifyAnother(
  fixture: Fixture,
  mailed: (about: NewPerson) => Promise<Mailed>,
  verify: (person: Person, code: string) => Promise<unknown>,
): Promise<void> {
  const email = newAddress();
  const { person, code } = await mailed({ email, emailVerified: true });
  await verify(person, code);
  await fixture.smtp.awaitMail(email);
}
