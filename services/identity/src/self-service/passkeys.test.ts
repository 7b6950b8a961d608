import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { passkeys } from "@svc/proto";
import { type Fixture, type Person, startFixture, stateOf } from "../testing/fixture.ts";
import { createPasskeyPeople } from "../testing/passkeys.ts";

const minute = 60_000;

describe("removing a passkey", () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture();
  });
  after(() => fixture.stop());
  const people = createPasskeyPeople(() => fixture);
  const ids = async (person: Person) =>
    (await fixture.gateway.call(passkeys.list, {}, people.as(person))).credentials.map(({ id }) => id);
  const remove = (person: Person, id = "") =>
    fixture.gateway.call(passkeys.remove, { id }, people.as(person));
  const refused = async (person: Person, id = "") =>
    (await fixture.refused(passkeys.remove, { id }, people.as(person))).fault;

  test("ends all other sessions, sends a mail to the verified address, and invalidates the passkey", async () => {
    const who = await people.holder();
    const other = await fixture.session(who.userId);
    const [id] = await ids(who);
    assert.equal(await remove(who, id), null);
    assert.deepEqual(await ids(who), []);
    assert.equal((await stateOf(fixture, other.hash)).state, "unknown");
    assert.equal((await stateOf(fixture, who.session)).state, "live");
    await fixture.smtp.awaitMail(who.email, 2);
    const subjects = fixture.smtp.mails.filter(({ to }) => to === who.email).map(({ subject }) => subject);
    assert.deepEqual(subjects, [
      "A passkey was added to your account",
      "A passkey was removed from your account",
    ]);
    assert.equal(await people.pass("discoverable", who), "passkey_login_invalid");
  });

  test("refuses to remove the last one while no verified address is another way in", async () => {
    const person = await fixture.person({ email: "unproved@example.org" });
    await people.register(person, people.newDevice());
    await people.register(person, people.newDevice());
    const [one, two] = await ids(person);
    await remove(person, one);
    assert.equal(await refused(person, two), "last_passkey");
    assert.deepEqual(await ids(person), [two]);
  });

  test("when the last two are removed at the same time, one is kept", async () => {
    const person = await fixture.person();
    await people.register(person, people.newDevice());
    await people.register(person, people.newDevice());
    const ends = await Promise.allSettled((await ids(person)).map((id) => remove(person, id)));
    assert.equal(ends.filter(({ status }) => status === "fulfilled").length, 1);
    assert.equal((await ids(person)).length, 1);
  });

  test("requires a fresh proof, and one's own passkey", async () => {
    const [who, other] = [await people.holder(), await people.holder()];
    const [own] = await ids(who);
    const [foreign] = await ids(other);
    assert.equal(await refused(who, foreign), "not_found");
    fixture.pass(5 * minute);
    assert.equal(await refused(who, own), "reauth_required");
    assert.equal((await ids(who)).length, 1);
    assert.equal((await ids(other)).length, 1);
  });

  test("during a login makes the login fail", async () => {
    const who = await people.holder();
    const begun = await people.begin("login", who);
    const [id] = await ids(who);
    await remove(who, id);
    const assertion = who.device.assert(begun.options);
    assert.equal(await people.finish("login", who, { loginId: "", assertion }), "passkey_login_invalid");
  });
});
