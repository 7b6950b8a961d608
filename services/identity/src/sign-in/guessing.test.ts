// Guessing codes from many addresses, at two replicas, all at once.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { accounts, isFault, signIn } from "@svc/proto";
import { type Fixture, startFixture } from "../testing/fixture.ts";

const minute = 60_000;
const anonymous = { kind: "anonymous" } as const;
let number = 0;
const from = (address: string) => ({ principal: anonymous, client: { address, userAgent: "" } });
const anywhere = () => from(`10.${++number >> 8}.${number & 255}.1`);

async function outcomeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "done",
    (error: unknown) =>
      isFault(error) ? `${error.fault} ${error.retryAfterSeconds ?? ""}`.trim() : String(error),
  );
}

function counted(outcomes: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const outcome of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

describe("guessing on two replicas", () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture({
      set: ["smtp.max_per_hour=1000000", "identity.mail_recipient_burst=1000"],
    });
    await fixture.addReplica();
  });
  after(() => fixture.stop());

  const guess = (email: string, code: string) =>
    outcomeOf(fixture.gateway.forward(signIn.verifyEmail, { email, code }, anywhere()));

  test("one account allows ten attempts a day in total over all addresses", async () => {
    const email = "victim@example.org";
    const { userId } = await fixture.person({ email, emailVerified: true });
    let mails = 0;
    const newCode = async () => {
      await fixture.gateway.call(signIn.startEmail, { email }, anywhere());
      await fixture.smtp.awaitMail(email, ++mails);
    };
    await newCode();
    const codeOf = () => fixture.smtp.codeTo(email);
    const guesses = (count: number) => {
      const right = codeOf();
      const others = Array.from({ length: count + 1 }, (_, index) => String(index).padStart(6, "0"));
      return others.filter((code) => code !== right).slice(0, count);
    };
    const first = await Promise.all(guesses(40).map((code) => guess(email, code)));
    assert.deepEqual(counted(first), { invalid_code: 40 });
    const failures = async () =>
      (
        await fixture.database.admin("select failures from identity.otp_failure_windows where user_id = $1", [
          userId,
        ])
      )[0]?.["failures"];
    assert.equal(await failures(), 5);
    fixture.pass(minute);
    await newCode();
    // Read now: the mail about the lock may be the newest one by then.
    const right = codeOf();
    await Promise.all(guesses(40).map((code) => guess(email, code)));
    assert.equal(await failures(), 10);
    assert.equal(await guess(email, right), "invalid_code");
    await fixture.smtp.awaitMail(email, mails + 1);
    const mailed = fixture.smtp.mails.filter(
      ({ subject }) => subject === "Codes are locked for your account",
    );
    assert.equal(mailed.length, 1);
  });

  test("replicas share the budget of an address", async () => {
    const take = () => fixture.gateway.call(accounts.takeSignInBudget, { address: "192.0.2.1" }, anywhere());
    const taken = await Promise.all(Array.from({ length: 60 }, take));
    assert.equal(taken.filter(({ allowed }) => allowed).length, 20);
  });
});

describe("the mail budget at public endpoints", () => {
  let fixture: Fixture;
  before(async () => {
    // 30 at once, of which one address may use 21; 3 at once to one recipient.
    fixture = await startFixture({
      set: ["identity.mail_recipient_burst=3", "identity.mail_reserve_burst=2"],
    });
    await fixture.addReplica();
  });
  after(() => fixture.stop());

  const start = (email: string, at: ReturnType<typeof from>) =>
    outcomeOf(fixture.gateway.call(signIn.startEmail, { email }, at));
  const unknown = () => `nobody${++number}@example.org`;

  test("one address uses up only its own share", async () => {
    const outcomes = await Promise.all(Array.from({ length: 25 }, () => start(unknown(), from("192.0.2.1"))));
    assert.deepEqual(counted(outcomes), { done: 21, "mail_rate_limited 43": 4 });
    assert.equal(await start(unknown(), from("192.0.2.2")), "done");
    fixture.pass(60_000);
    assert.equal(await start(unknown(), from("192.0.2.1")), "done");
  });

  test("an IPv6 client has one share for its whole network", async () => {
    fixture.pass(24 * 60 * minute);
    const outcomes = await Promise.all(
      Array.from({ length: 25 }, (_, index) => start(unknown(), from(`2001:db8:1:2::${index}`))),
    );
    assert.equal(counted(outcomes)["done"], 21);
    assert.equal(await start(unknown(), from("2001:db8:1:3::1")), "done");
  });

  test("mails to one recipient are limited over all requesters, known or not", async () => {
    fixture.pass(24 * 60 * minute);
    await fixture.person({ email: "known@example.org", emailVerified: true });
    for (const email of ["known@example.org", unknown()]) {
      const outcomes: string[] = [];
      for (let tries = 0; tries < 5; tries++) {
        outcomes.push(await start(email, anywhere()));
        fixture.pass(minute);
      }
      assert.deepEqual(
        outcomes.map((outcome) => outcome.replace(/ \d+$/, "")),
        [...["done", "done", "done", "done"], "mail_rate_limited"],
      );
    }
  });

  test("when it is used up, every address is rejected alike, and staff still get their codes from the reserve", async () => {
    fixture.pass(24 * 60 * minute);
    await fixture.person({ email: "player@example.org", emailVerified: true });
    const staff = await fixture.person({ role: "admin", email: "staff@example.org", emailVerified: true });
    const outcomes = await Promise.all(Array.from({ length: 40 }, () => start(unknown(), anywhere())));
    assert.deepEqual(counted(outcomes), { done: 30, "mail_rate_limited 30": 10 });
    assert.equal(await start("player@example.org", anywhere()), "mail_rate_limited 30");
    assert.equal(await start(unknown(), anywhere()), "mail_rate_limited 30");
    const opLogin = (email: string) => fixture.gateway.call(signIn.startOpLogin, { email }, anywhere());
    const answers = [await opLogin("staff@example.org"), await opLogin(unknown())];
    assert.equal(answers[0]?.expires_at, answers[1]?.expires_at);
    await fixture.smtp.awaitMail("staff@example.org");
    // Addresses without an account at the operator login do not use the reserve.
    await Promise.all(Array.from({ length: 10 }, () => opLogin(unknown())));
    await fixture.person({ role: "admin", email: "staff2@example.org", emailVerified: true });
    await opLogin("staff2@example.org");
    await fixture.smtp.awaitMail("staff2@example.org");
    assert.ok(staff);
  });

  test("public endpoints cannot use up the share of signed-in accounts", async () => {
    fixture.pass(24 * 60 * minute);
    const email = "me@example.org";
    const person = await fixture.person({ email, emailVerified: true });
    for (let tries = 0; tries < 5; tries++) {
      await start(email, anywhere());
      fixture.pass(minute);
    }
    await start(email, anywhere());
    await fixture.database.admin("update identity.sessions set reauth_at = $1", [fixture.now()]);
    await fixture.gateway.call(accounts.startEmail, { email }, { principal: person.principal });
  });
});
