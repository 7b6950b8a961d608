import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { until } from "@svc/mesh/testing";
import { accounts } from "@svc/proto";
import { type Fixture, type Person, startFixture } from "../testing/fixture.ts";

let number = 0;
const newAddress = () => `entered${++number}@example.org`;

describe("entering an address", () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture();
  });
  after(() => fixture.stop());

  const enter = (person: Person, email: string) =>
    fixture.gateway.call(accounts.enterEmail, { email }, { principal: person.principal });
  const refused = async (person: Person, email: string) =>
    (await fixture.refused(accounts.enterEmail, { email }, { principal: person.principal })).fault;
  const stored = async ({ userId }: Person) =>
    (
      await fixture.database.admin("select email, email_verified from identity.users where id = $1", [userId])
    )[0];

  test("stores it unverified, and requires no proof from an account without a way in", async () => {
    const person = await fixture.person({ isProof: false });
    const email = newAddress();
    assert.deepEqual(await enter(person, email), { email });
    assert.deepEqual(await stored(person), { email, email_verified: false });
  });

  test("requires a proof of the last 5 minutes when an address is verified", async () => {
    const old = newAddress();
    const person = await fixture.person({ email: old, emailVerified: true });
    fixture.pass(300_000);
    assert.equal(await refused(person, newAddress()), "reauth_required");
    assert.deepEqual(await stored(person), { email: old, email_verified: true });
  });

  test("requires a proof from an account with a passkey too, and so does a request for a code", async () => {
    const person = await fixture.person({ isProof: false });
    await fixture.database.admin(
      `insert into identity.webauthn_credentials (id, user_id, credential_id, public_key, created_at)
       values ($1, $1, $1, '', now())`,
      [person.userId],
    );
    assert.equal(await refused(person, newAddress()), "reauth_required");
    const start = { principal: person.principal };
    const answer = await fixture.refused(accounts.startEmail, { email: newAddress() }, start);
    assert.equal(answer.fault, "reauth_required");
  });

  test("removes the verified address from the account and notifies it by mail", async () => {
    const old = newAddress();
    const person = await fixture.person({ email: old, emailVerified: true });
    const email = newAddress();
    await enter(person, email);
    assert.deepEqual(await stored(person), { email, email_verified: false });
    const mail = await fixture.smtp.awaitMail(old);
    assert.equal(mail.subject, "Your e-mail address was removed from your account");
    assert.ok(!mail.source.includes(email));
    await until(async () => {
      const rows = await fixture.database.admin(
        "select payload from identity.audit_logs where action = 'account.email.entered' and actor_user_id = $1",
        [person.userId],
      );
      return rows.some(({ payload }) => (payload as { replaced: boolean }).replaced);
    });
  });

  test("that is already verified changes nothing", async () => {
    const email = newAddress();
    const person = await fixture.person({ email, emailVerified: true });
    assert.deepEqual(await enter(person, email.toUpperCase()), { email });
    assert.deepEqual(await stored(person), { email, email_verified: true });
  });

  test("that another account has verified reveals nothing: it is stored unverified", async () => {
    const email = newAddress();
    await fixture.person({ email, emailVerified: true });
    const person = await fixture.person();
    assert.deepEqual(await enter(person, email), { email });
  });

  test("that could be parsed as several is rejected", async () => {
    assert.equal(await refused(await fixture.person(), "a<b@example.org"), "bad_request");
  });
});
