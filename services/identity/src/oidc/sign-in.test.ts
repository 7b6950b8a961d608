import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { until } from "@svc/mesh/testing";
import { type AnyContract, type Client, type InputOf, isFault, oidc, users } from "@svc/proto";
import { sha256 } from "../secret.ts";
import { stateOf } from "../testing/fixture.ts";
import { asPerson, newBrowser, type OidcFixture, startOidcFixture } from "../testing/oidc-fixture.ts";

const minute = 60_000;
const day = 24 * 60 * minute;
const anonymous = { kind: "anonymous" } as const;
let number = 0;
const newSub = () => `person-${++number}`;

describe("sign-in with an OpenID provider", () => {
  let fixture: OidcFixture;
  before(async () => {
    fixture = await startOidcFixture(["identity.oidc_role_check=1h"]);
    await fixture.addReplica();
  });
  after(() => fixture.stop());
  beforeEach(() => {
    for (const provider of [fixture.works, fixture.club]) {
      provider.interfere = undefined;
      provider.person = { sub: newSub() };
    }
  });
  const faultOf = async (work: Promise<unknown>) => {
    const error: unknown = await work.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    assert.ok(isFault(error), String(error));
    return error.fault;
  };
  const refused = async <C extends AnyContract>(contract: C, input: InputOf<C>, client: Client) =>
    (await fixture.refused(contract, input, { principal: anonymous, client })).fault;
  /** So many entries about a person, which arrive a moment after what they tell of. */
  const audited = async (action: string, userId: string, count: number) => {
    const read = () =>
      fixture.database.admin(
        "select payload from identity.audit_logs where action = $1 and actor_user_id = $2 order by id",
        [action, userId],
      );
    await until(async () => (await read()).length >= count);
    return read();
  };
  const roleOf = async (userId: string) =>
    (
      await fixture.store.db
        .selectFrom("users")
        .select("role")
        .where("id", "=", userId)
        .executeTakeFirstOrThrow()
    ).role;
  const member = (more: Record<string, unknown> = {}) => ({
    email: `p${number}@example.org`,
    email_verified: true,
    ...more,
  });

  test("everybody sees the providers in the order of the settings", async () => {
    const { providers } = await fixture.gateway.call(oidc.listProviders, {}, { principal: anonymous });
    assert.deepEqual(providers, [
      { id: "works", name: { en: "Works", zh: "公司" } },
      { id: "club", name: { en: "Club", zh: "Club" } },
    ]);
  });

  test("the address at the provider has PKCE, state, nonce and the exact address of the host", async () => {
    for (const [host, origin] of [
      ["player", "https://console.svc.localhost"],
      ["operator", "https://op.console.svc.localhost"],
    ] as const) {
      const begun = await fixture.begin("works", newBrowser({ host }));
      const url = new URL(begun.url);
      assert.equal(url.origin, fixture.works.issuer);
      const { redirect_uri, code_challenge_method, response_type, scope, state, nonce, code_challenge } =
        Object.fromEntries(url.searchParams);
      assert.deepEqual(
        [redirect_uri, code_challenge_method, response_type, scope, state],
        [`${origin}/login/oidc/works`, "S256", "code", "openid profile email", begun.state],
      );
      assert.match(nonce ?? "", /^[\w-]{43}$/);
      assert.match(code_challenge ?? "", /^[\w-]{43}$/);
      assert.doesNotMatch(begun.url, new RegExp(begun.secret));
    }
    assert.equal(await refused(oidc.begin, { provider: "other" }, newBrowser()), "not_found");
  });

  test("a linked identity signs its account in, whatever its address is, and the session is no proof beside a passkey or address", async () => {
    const person = await fixture.person({ email: `own${++number}@example.org`, emailVerified: true });
    fixture.works.person = { sub: newSub(), claims: { email: "other@example.org", email_verified: true } };
    const linked = await fixture.link("works", person);
    assert.deepEqual([linked.provider?.id, linked.label], ["works", "other@example.org"]);
    const { body, value } = await fixture.signIn("works");
    assert.deepEqual(body, { user_id: person.userId, role: "user" });
    const state = await stateOf(fixture, sha256(value ?? ""));
    assert.deepEqual([state.state, "host" in state && state.host], ["live", "player"]);
    const [row] = await fixture.database.admin(
      "select door::text, reauth_at from identity.sessions where token_hash = $1",
      [sha256(value ?? "")],
    );
    assert.deepEqual(row, { door: "oidc", reauth_at: null });
    assert.equal((await audited("auth.oidc.login", person.userId, 1)).length, 1);
    const { identities } = await fixture.gateway.call(oidc.listOwn, {}, asPerson(person));
    assert.equal(typeof identities[0]?.last_used_at, "string");
  });

  test("an address never signs anybody in to an account, nor makes a second one", async () => {
    const email = `taken${++number}@example.org`;
    const person = await fixture.person({ email, emailVerified: true });
    for (const provider of ["works", "club"] as const) {
      fixture[provider].person = {
        sub: newSub(),
        claims: { email: email.toUpperCase(), email_verified: true },
      };
      const client = newBrowser();
      const answer = await fixture.answerOf(await fixture.begin(provider, client));
      assert.equal(await refused(oidc.finish, answer, client), "oidc_not_linked");
    }
    const count = await fixture.database.admin(
      "select count(*)::int as count from identity.external_identities where user_id = $1",
      [person.userId],
    );
    assert.deepEqual(count, [{ count: 0 }]);
  });

  test("who may sign up gets an ordinary account once, without an address, and a proof for its first changes", async () => {
    fixture.club.person = { sub: newSub(), claims: member({ preferred_username: "newcomer" }) };
    const first = await fixture.signIn("club");
    assert.equal(first.body["role"], "user");
    const again = await fixture.signIn("club");
    assert.equal(again.body["user_id"], first.body["user_id"]);
    const [row] = await fixture.database.admin(
      "select username, email, role::text from identity.users where id = $1",
      [first.body["user_id"]],
    );
    assert.deepEqual(row, { username: "newcomer", email: null, role: "user" });
    const [session] = await fixture.database.admin(
      "select reauth_at is not null as proven from identity.sessions where token_hash = $1",
      [sha256(again.value ?? "")],
    );
    assert.deepEqual(session, { proven: true });
  });

  test("two browsers that sign up as one person at once get one account", async () => {
    fixture.club.person = { sub: newSub(), claims: member() };
    const both = await Promise.all([fixture.signIn("club"), fixture.signIn("club")]);
    assert.equal(both[0].body["user_id"], both[1].body["user_id"]);
  });

  test("a sign-up needs a verified address of the domain, and a provider that allows it", async () => {
    for (const [provider, claims] of [
      ["works", member()],
      ["club", member({ email_verified: false })],
      ["club", member({ email: "p@example.com" })],
      ["club", {}],
    ] as const) {
      fixture[provider].person = { sub: newSub(), claims };
      const client = newBrowser();
      const answer = await fixture.answerOf(await fixture.begin(provider, client));
      assert.equal(await refused(oidc.finish, answer, client), "oidc_not_linked");
    }
  });

  test("the same subject at another provider is another person", async () => {
    const person = await fixture.person();
    const sub = newSub();
    fixture.works.person = { sub };
    await fixture.link("works", person);
    fixture.club.person = { sub, claims: member() };
    const { body } = await fixture.signIn("club");
    assert.notEqual(body["user_id"], person.userId);
  });

  test("a disabled or deleted account is refused, also with a session that was begun before", async () => {
    const owner = await fixture.person({
      role: "owner",
      email: `o${++number}@example.org`,
      emailVerified: true,
    });
    for (const end of ["disable", "delete"] as const) {
      const person = await fixture.person();
      fixture.works.person = { sub: newSub() };
      await fixture.link("works", person);
      const client = newBrowser();
      const answer = await fixture.answerOf(await fixture.begin("works", client));
      if (end === "disable")
        await fixture.gateway.call(users.disable, { id: person.userId, disabled: true }, asPerson(owner));
      else await fixture.gateway.call(users.remove, { id: person.userId }, asPerson(owner));
      assert.equal(await refused(oidc.finish, answer, client), "account_retired");
    }
  });

  describe("what claims say about roles", () => {
    const staff = { groups: ["players", "staff"] };
    const refusedAs = async () => {
      const client = newBrowser({ host: "operator" });
      const answer = await fixture.answerOf(await fixture.begin("works", client));
      return refused(oidc.finish, answer, client);
    };

    test("staff come in only with a second factor, and nothing changes for those who do not", async () => {
      const person = await fixture.person({ email: `s${++number}@example.org`, emailVerified: true });
      fixture.works.person = { sub: newSub(), claims: staff, amr: ["pwd"] };
      await fixture.link("works", person);
      assert.equal(await refusedAs(), "staff_account");
      assert.equal(await roleOf(person.userId), "user");
      fixture.works.person = { ...fixture.works.person, amr: ["pwd", "mfa"] };
      const { body, value } = await fixture.signIn("works", newBrowser({ host: "operator" }));
      assert.deepEqual(body, { user_id: person.userId, role: "admin" });
      assert.equal((await stateOf(fixture, sha256(value ?? ""))).state, "live");
      // Of staff it is never a proof.
      const [row] = await fixture.database.admin(
        "select host::text, reauth_at from identity.sessions where token_hash = $1",
        [sha256(value ?? "")],
      );
      assert.deepEqual(row, { host: "operator", reauth_at: null });
      assert.equal((await stateOf(fixture, person.session)).state, "unknown");
    });

    test("the role goes with the claim at the next sign-in, and all other sessions with it", async () => {
      const person = await fixture.person();
      fixture.works.person = { sub: newSub(), claims: staff, amr: ["mfa"] };
      await fixture.link("works", person);
      const first = await fixture.signIn("works");
      assert.equal(first.body["role"], "admin");
      fixture.works.person = { ...fixture.works.person, claims: { groups: ["players"] }, amr: [] };
      const second = await fixture.signIn("works");
      assert.deepEqual(second.body, { user_id: person.userId, role: "user" });
      assert.equal((await stateOf(fixture, sha256(first.value ?? ""))).state, "unknown");
      const changes = await audited("user.role.claims", person.userId, 2);
      assert.deepEqual(changes.map(({ payload }) => (payload as { to: string }).to).sort(), [
        "admin",
        "user",
      ]);
    });

    test("the owner keeps the role without the claim, and an admin by hand, too", async () => {
      for (const role of ["owner", "admin"] as const) {
        const person = await fixture.person({ role, email: `k${++number}@example.org`, emailVerified: true });
        fixture.works.person = { sub: newSub(), amr: ["mfa"] };
        await fixture.link("works", person);
        const { body } = await fixture.signIn("works", newBrowser({ host: "operator" }));
        assert.equal(body["role"], role);
      }
    });

    test("staff of a provider without a second factor are refused", async () => {
      const person = await fixture.person({
        role: "admin",
        email: `f${++number}@example.org`,
        emailVerified: true,
      });
      fixture.club.person = { sub: newSub(), claims: staff, amr: ["mfa"] };
      await fixture.link("club", person);
      const client = newBrowser({ host: "operator" });
      const answer = await fixture.answerOf(await fixture.begin("club", client));
      assert.equal(await refused(oidc.finish, answer, client), "staff_account");
    });

    test("a role by claims lapses when its holder has not come by the provider for a week", async () => {
      const quick = await startOidcFixture(["identity.oidc_role_check=20ms"]);
      try {
        const person = await quick.person();
        quick.works.person = { sub: newSub(), claims: staff, amr: ["mfa"] };
        await quick.link("works", person);
        const { value } = await quick.signIn("works", newBrowser({ host: "operator" }));
        const role = async () =>
          (
            await quick.store.db
              .selectFrom("users")
              .select("role")
              .where("id", "=", person.userId)
              .executeTakeFirst()
          )?.role;
        quick.pass(7 * day - minute);
        await delay(100);
        assert.equal(await role(), "admin");
        quick.pass(2 * minute);
        await until(async () => (await role()) !== "admin");
        assert.equal(await role(), "user");
        assert.equal((await stateOf(quick, sha256(value ?? ""))).state, "unknown");
      } finally {
        await quick.stop();
      }
    });

    test("a role that the owner changes by hand is one by hand", async () => {
      const owner = await fixture.person({
        role: "owner",
        email: `h${++number}@example.org`,
        emailVerified: true,
      });
      const person = await fixture.person();
      fixture.works.person = { sub: newSub(), claims: staff, amr: ["mfa"] };
      await fixture.link("works", person);
      await fixture.signIn("works");
      for (const role of ["user", "admin"] as const)
        await fixture.gateway.call(users.patch, { id: person.userId, role }, asPerson(owner));
      fixture.works.person = { ...fixture.works.person, claims: {} };
      assert.equal((await fixture.signIn("works")).body["role"], "admin");
    });
  });

  test("a login ends after ten minutes and counts once, for the browser and host that began it", async () => {
    const person = await fixture.person();
    await fixture.link("works", person);
    const client = newBrowser();
    const open = async () => fixture.answerOf(await fixture.begin("works", client));
    const invalid = async (answer: InputOf<typeof oidc.finish>, from: Client = client) =>
      assert.equal(await refused(oidc.finish, answer, from), "oidc_login_invalid");
    const used = await open();
    assert.equal((await fixture.finish(used, client)).body["user_id"], person.userId);
    await invalid(used);
    const late = await open();
    fixture.pass(10 * minute);
    await invalid(late);
    await invalid(await open(), { ...client, host: "operator" });
    const [mine, theirs] = [await open(), await open()];
    await invalid({ ...theirs, secret: mine.secret });
    await invalid({ ...mine, state: theirs.state });
    await invalid({ ...mine, secret: "x".repeat(43) });
    // A wrong secret does not spend the login of somebody else.
    assert.equal((await fixture.finish(theirs, client)).body["user_id"], person.userId);
    const raced = await open();
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => fixture.finish(raced, client)));
    assert.equal(outcomes.filter(({ status }) => status === "fulfilled").length, 1);
  });

  test("a stolen code is worth nothing in a login of the thief", async () => {
    const person = await fixture.person();
    await fixture.link("works", person);
    const stolen = await fixture.answerOf(await fixture.begin("works", newBrowser()));
    const thief = newBrowser();
    const own = await fixture.begin("works", thief);
    const answer = { ...stolen, state: own.state, secret: own.secret };
    assert.equal(await refused(oidc.finish, answer, thief), "oidc_answer_invalid");
  });

  test("an answer of one provider is not taken for one of another", async () => {
    const client = newBrowser();
    const ours = await fixture.begin("works", client);
    const theirs = await fixture.answerOf(await fixture.begin("club", client));
    const { iss: _, ...unnamed } = theirs;
    // Also of a provider that does not name itself: the answer came to the address of the other one.
    const elsewhere = { ...unnamed, state: ours.state, secret: ours.secret };
    assert.equal(await refused(oidc.finish, elsewhere, client), "oidc_login_invalid");
    const named = await fixture.begin("works", client);
    const mixed = { ...theirs, provider: "works", state: named.state, secret: named.secret };
    assert.equal(await refused(oidc.finish, mixed, client), "oidc_answer_invalid");
    const { iss: _left, ...silent } = await fixture.answerOf(await fixture.begin("works", client));
    assert.equal(await refused(oidc.finish, silent, client), "oidc_answer_invalid");
  });

  test("browsers of one network that are away at once are limited", async () => {
    const client = newBrowser();
    for (let index = 0; index < 64; index++) await fixture.begin("works", client);
    assert.equal(await refused(oidc.begin, { provider: "works" }, client), "too_many_challenges");
    await fixture.begin("works", newBrowser());
  });

  test("bad input is refused before anybody is asked", async () => {
    const client = newBrowser();
    for (const provider of ["", "../works", "WORKS", "w".repeat(33)])
      assert.equal(await refused(oidc.begin, { provider }, client), "bad_request");
    const answer = { provider: "works", state: "s", secret: "s", code: "c" };
    for (const bad of [
      { state: "" },
      { code: "x".repeat(4097) },
      { iss: "x".repeat(513) },
      { secret: "s".repeat(129) },
    ])
      assert.equal(await refused(oidc.finish, { ...answer, ...bad }, client), "bad_request");
    assert.equal(await refused(oidc.finish, answer, client), "oidc_login_invalid");
    assert.equal(
      await faultOf(fixture.gateway.call(oidc.beginLink, { provider: "works" }, { principal: anonymous })),
      "unauthorized",
    );
  });
});
