import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { type AnyContract, type InputOf, links, oidc, passkeys, users } from "@svc/proto";
import { sha256 } from "../secret.ts";
import type { Person } from "../testing/fixture.ts";
import { stateOf } from "../testing/fixture.ts";
import { asPerson, newBrowser, type OidcFixture, startOidcFixture } from "../testing/oidc-fixture.ts";

const minute = 60_000;
const anonymous = { kind: "anonymous" } as const;
let number = 0;
const newMail = () => ({ email: `link${++number}@example.org`, emailVerified: true });

describe("an external identity", () => {
  let fixture: OidcFixture;
  before(async () => {
    fixture = await startOidcFixture();
    await fixture.addReplica();
  });
  after(() => fixture.stop());
  beforeEach(() => {
    for (const provider of [fixture.works, fixture.club]) provider.person = { sub: `person-${++number}` };
  });
  const refused = async <C extends AnyContract>(contract: C, input: InputOf<C>, person: Person) =>
    (await fixture.refused(contract, input, asPerson(person))).fault;
  const begin = (person: Person) =>
    fixture.gateway.call(oidc.beginLink, { provider: "works" }, asPerson(person));
  const own = async (person: Person) =>
    (await fixture.gateway.call(oidc.listOwn, {}, asPerson(person))).identities;

  test("is linked with a fresh proof, and its account is told by mail", async () => {
    const mail = newMail();
    const person = await fixture.person(mail);
    const linked = await fixture.link("works", person);
    assert.deepEqual(await own(person), [linked]);
    const { subject } = await fixture.smtp.awaitMail(mail.email);
    assert.match(subject, /way to sign in was added/);
  });

  test("is not linked without a proof, nor with one that was old when the person left", async () => {
    const person = await fixture.person({ ...newMail(), isProof: false });
    assert.equal(await refused(oidc.beginLink, { provider: "works" }, person), "reauth_required");
    const proven = await fixture.person(newMail());
    fixture.pass(5 * minute);
    assert.equal(await refused(oidc.beginLink, { provider: "works" }, proven), "reauth_required");
  });

  test("takes as long at the provider as it takes there, after a proof that was fresh", async () => {
    const person = await fixture.person(newMail());
    const answer = await fixture.answerOf(await begin(person));
    fixture.pass(9 * minute);
    await fixture.gateway.call(oidc.finishLink, answer, asPerson(person));
  });

  test("is linked only by the account, the session and the way that began it", async () => {
    const person = await fixture.person(newMail());
    const victim = await fixture.person(newMail());
    // Somebody's browser is led to an answer of somebody else.
    assert.equal(
      await refused(oidc.finishLink, await fixture.answerOf(await begin(person)), victim),
      "oidc_login_invalid",
    );
    const { hash: session } = await fixture.session(person.userId);
    const other = { ...person, principal: { ...person.principal, session } };
    assert.equal(
      await refused(oidc.finishLink, await fixture.answerOf(await begin(person)), other),
      "oidc_login_invalid",
    );
    const client = newBrowser();
    const asSignIn = await fixture.refused(oidc.finish, await fixture.answerOf(await begin(person)), {
      principal: anonymous,
      client,
    });
    assert.equal(asSignIn.fault, "oidc_login_invalid");
    const signIn = await fixture.answerOf(await fixture.begin("works", client));
    assert.equal(await refused(oidc.finishLink, signIn, person), "oidc_login_invalid");
    assert.deepEqual([await own(person), await own(victim)], [[], []]);
  });

  test("of another account is refused, and linking one's own again changes nothing", async () => {
    const [first, second] = [await fixture.person(newMail()), await fixture.person(newMail())];
    const linked = await fixture.link("works", first);
    assert.equal((await fixture.link("works", first)).id, linked.id);
    const answer = await fixture.answerOf(await begin(second));
    assert.equal(await refused(oidc.finishLink, answer, second), "oidc_already_linked");
    assert.deepEqual([(await own(first)).length, (await own(second)).length], [1, 0]);
  });

  test("goes to one of two accounts that link it at once", async () => {
    const people = [await fixture.person(newMail()), await fixture.person(newMail())];
    const answers = await Promise.all(people.map(async (person) => fixture.answerOf(await begin(person))));
    const outcomes = await Promise.allSettled(
      people.map((person, index) =>
        fixture.gateway.call(
          oidc.finishLink,
          answers[index] as InputOf<typeof oidc.finishLink>,
          asPerson(person),
        ),
      ),
    );
    assert.deepEqual(outcomes.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
  });

  test("an account has at most ten", async () => {
    const person = await fixture.person(newMail());
    for (let index = 0; index < 10; index++) {
      fixture.works.person = { sub: `many-${++number}` };
      await fixture.link("works", person);
    }
    assert.equal(await refused(oidc.beginLink, { provider: "works" }, person), "oidc_too_many");
  });

  test("is unlinked with a fresh proof; other sessions end, and it signs nobody in", async () => {
    const mail = newMail();
    const person = await fixture.person(mail);
    const { id } = await fixture.link("works", person);
    const other = await fixture.session(person.userId);
    const late = await fixture.answerOf(await fixture.begin("works", newBrowser()));
    const stranger = await fixture.person(newMail());
    assert.equal(await refused(oidc.unlink, { id }, stranger), "not_found");
    await fixture.gateway.call(oidc.unlink, { id }, asPerson(person));
    assert.equal((await stateOf(fixture, other.hash)).state, "unknown");
    assert.equal((await stateOf(fixture, person.session)).state, "live");
    const { fault } = await fixture.refused(oidc.finish, late, {
      principal: anonymous,
      client: newBrowser(),
    });
    assert.equal(fault, "oidc_not_linked");
    const again = await fixture.person({ ...newMail(), isProof: false });
    assert.equal(await refused(oidc.unlink, { id }, again), "reauth_required");
  });

  test("that is the only way in stays, as do the last passkey and player of an account without one", async () => {
    fixture.club.person = {
      sub: `club-${++number}`,
      claims: { email: "c@example.org", email_verified: true },
    };
    const { body, value } = await fixture.signIn("club");
    const userId = body["user_id"] ?? "";
    const session = sha256(value ?? "");
    const principal = { ...(await fixture.person()).principal, user_id: userId, session };
    const person: Person = { userId, session, cookie: value ?? "", principal };
    const [only] = await own(person);
    assert.equal(await refused(oidc.unlink, { id: only?.id ?? "" }, person), "last_way_in");
    const { needed, factors } = await fixture.gateway.call(passkeys.reauthStatus, {}, asPerson(person));
    assert.deepEqual([needed, factors], [false, ["sign_in"]]);
    fixture.pass(5 * minute);
    assert.equal(await refused(oidc.unlink, { id: only?.id ?? "" }, person), "reauth_required");
    // With the identity there is another way in, so the only player can be unlinked after a new sign-in.
    const mc_uuid = `00000000-0000-4000-8000-${String(++number).padStart(12, "0")}`;
    await fixture.store.db.insertInto("account_links").values({ user_id: userId, mc_uuid }).execute();
    const again = await fixture.signIn("club");
    const fresh = { ...person, principal: { ...principal, session: sha256(again.value ?? "") } };
    await fixture.gateway.call(links.removeOwn, { mc_uuid }, asPerson(fresh));
  });

  test("two that are unlinked at once leave one", async () => {
    const person = await fixture.person();
    await fixture.link("works", person);
    await fixture.link("club", person);
    const [one, two] = await own(person);
    const gone = await Promise.allSettled(
      [one, two].map((identity) =>
        fixture.gateway.call(oidc.unlink, { id: identity?.id ?? "" }, asPerson(person)),
      ),
    );
    assert.deepEqual(gone.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
    assert.equal((await own(person)).length, 1);
  });

  test("that gave a role takes it along", async () => {
    const person = await fixture.person(newMail());
    fixture.works.person = { sub: `role-${++number}`, claims: { groups: "staff" }, amr: ["mfa"] };
    const { id } = await fixture.link("works", person);
    const { body, value } = await fixture.signIn("works", newBrowser({ host: "operator" }));
    assert.equal(body["role"], "admin");
    const session = sha256(value ?? "");
    await fixture.database.admin("update identity.sessions set reauth_at = $1 where token_hash = $2", [
      fixture.now(),
      session,
    ]);
    const principal = { ...person.principal, role: "admin", staff: true, session } as const;
    await fixture.gateway.call(oidc.unlink, { id }, asPerson({ ...person, principal }));
    const owner = await fixture.person({ role: "owner", ...newMail() });
    const user = await fixture.gateway.call(users.read, { id: person.userId }, asPerson(owner));
    assert.equal(user.role, "user");
    assert.equal((await stateOf(fixture, session)).state, "unknown");
  });

  test("PostgreSQL away is 503, and the login is still there afterwards", async () => {
    const person = await fixture.person(newMail());
    await fixture.link("works", person);
    const client = newBrowser();
    const answer = await fixture.answerOf(await fixture.begin("works", client));
    await fixture.wire.cut();
    const { fault } = await fixture.refused(oidc.finish, answer, { principal: anonymous, client });
    assert.equal(fault, "unavailable");
    await fixture.wire.recover();
    const { body } = await fixture.finish(answer, client);
    assert.equal(body["user_id"], person.userId);
  });
});
