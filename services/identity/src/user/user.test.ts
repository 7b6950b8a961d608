import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { until } from "@svc/mesh/testing";
import { accounts, eventFilter, Fault, type InputOf, ownership, players, quotas, users } from "@svc/proto";
import { type Fixture, type Person, startFixture, stateOf } from "../testing/fixture.ts";

const minute = 60_000;

describe("users, as the owner sees them", () => {
  let fixture: Fixture;
  let owner: Person;
  const asOwner = () => ({ principal: owner.principal });
  const create = (about: Partial<InputOf<typeof users.create>> & { username: string }) =>
    fixture.gateway.call(users.create, { role: "user", ...about }, asOwner());
  /** The state of the simulated lifecycle. */
  let released: string[] = [];
  let isLifecycleUp = true;
  const playersByName = new Map<string, string>();

  before(async () => {
    fixture = await startFixture({ set: ["identity.deletion_retry=100ms"] });
    owner = await fixture.person({ role: "owner", email: "owner@example.org", emailVerified: true });
    fixture.lifecycle.serve(ownership.countOwned, (_context, { user_ids }) => ({
      counts: Object.fromEntries(user_ids.map((id) => [id, 2])),
    }));
    fixture.lifecycle.serve(players.findByName, (_context, { text }) => {
      if (!isLifecycleUp) throw new Fault("unavailable");
      const found = playersByName.get(text);
      return { mc_uuids: found === undefined ? [] : [found] };
    });
    fixture.lifecycle.serve(ownership.releaseAccount, (_context, { user_id }) => {
      if (!isLifecycleUp) throw new Fault("unavailable");
      released.push(user_id);
      return { released: ["survival"] };
    });
  });
  after(() => fixture.stop());

  test("a created user is listed with the number of their servers", async () => {
    const made = await create({ username: "Alex", email: "alex@example.org" });
    assert.equal(made.server_count, 0);
    assert.equal(made.email_verified, false);
    const { users: found, total } = await fixture.gateway.call(
      users.list,
      { query: "LEX@ex", limit: 20, offset: 0 },
      asOwner(),
    );
    assert.equal(total, 1);
    assert.deepEqual(found, [{ ...made, server_count: 2 }]);
    assert.deepEqual(await fixture.gateway.call(users.read, { id: made.id }, asOwner()), found[0]);
  });

  test("a user name is taken whatever the case of its letters", async () => {
    await create({ username: "steve" });
    const again = await fixture.refused(users.create, { username: "STEVE", role: "user" }, asOwner());
    assert.equal(again.fault, "username_taken");
    const other = await create({ username: "herobrine" });
    const renamed = await fixture.refused(users.patch, { id: other.id, username: "Steve" }, asOwner());
    assert.equal(renamed.fault, "username_taken");
  });

  test("a search matches wildcards literally, and pages cover all matches", async () => {
    for (const n of [1, 2, 3]) {
      await create({ username: `page_${n}` });
      fixture.pass(1);
    }
    await create({ username: "pageX9" });
    const page = await fixture.gateway.call(users.list, { query: "page_", limit: 2, offset: 1 }, asOwner());
    assert.equal(page.total, 3);
    assert.deepEqual(
      page.users.map(({ username }) => username),
      ["page_2", "page_1"],
    );
  });

  test("users are sorted by name in either order, and found by the UUID or the name of their player", async () => {
    const linked = await create({ username: "SORT-b" });
    await create({ username: "sort-C" });
    await create({ username: "sort-a" });
    const mc_uuid = randomUUID();
    await fixture.gateway.call(users.addLink, { id: linked.id, mc_uuid }, asOwner());
    const namesOf = async (about: Partial<InputOf<typeof users.list>>) => {
      const asked = { limit: 20, offset: 0, ...about };
      const { users: found } = await fixture.gateway.call(users.list, asked, asOwner());
      return found.map(({ username }) => username);
    };
    const ascending = await namesOf({ query: "sort-", sort: "username" });
    assert.deepEqual(ascending, ["sort-a", "SORT-b", "sort-C"]);
    const descending = await namesOf({ query: "sort-", sort: "username", order: "desc" });
    assert.deepEqual(descending, ascending.toReversed());
    for (const written of [mc_uuid, mc_uuid.replaceAll("-", "").toUpperCase()]) {
      assert.deepEqual(await namesOf({ query: written }), ["SORT-b"]);
    }
    assert.deepEqual(await namesOf({ query: randomUUID() }), []);
    playersByName.set("Notch", mc_uuid);
    assert.deepEqual(await namesOf({ query: " Notch " }), ["SORT-b"]);
    isLifecycleUp = false;
    assert.deepEqual(await namesOf({ query: "Notch" }), []);
    assert.deepEqual(await namesOf({ query: "sort-c" }), ["sort-C"]);
    isLifecycleUp = true;
  });

  test("a new address is unverified, the same one again changes nothing", async () => {
    const person = await fixture.person({ email: "old@example.org", emailVerified: true });
    const same = await fixture.gateway.call(
      users.patch,
      { id: person.userId, email: "OLD@example.org" },
      asOwner(),
    );
    assert.equal(same.email_verified, true);
    const changed = await fixture.gateway.call(
      users.patch,
      { id: person.userId, email: "new@example.org" },
      asOwner(),
    );
    assert.deepEqual([changed.email, changed.email_verified], ["new@example.org", false]);
  });

  test("the owner's own address needs a fresh proof", async () => {
    const other = await fixture.person({ role: "owner", email: "two@example.org", emailVerified: true });
    fixture.pass(6 * minute);
    const change = { id: other.userId, email: "three@example.org" };
    const refused = await fixture.refused(users.patch, change, { principal: other.principal });
    assert.equal(refused.fault, "reauth_required");
  });

  test("a change of role ends the sessions opened with the old role", async () => {
    const person = await fixture.person();
    const promoted = await fixture.gateway.call(users.patch, { id: person.userId, role: "admin" }, asOwner());
    assert.equal(promoted.role, "admin");
    assert.equal((await stateOf(fixture, person.session)).state, "unknown");
  });

  const protections: [what: string, act: (id: string) => Promise<{ fault: string }>][] = [
    ["their role", (id) => fixture.refused(users.patch, { id, role: "admin" }, asOwner())],
    ["disabled", (id) => fixture.refused(users.disable, { id, disabled: true }, asOwner())],
    ["deleted", (id) => fixture.refused(users.remove, { id }, asOwner())],
  ];
  for (const [what, act] of protections) {
    test(`the owner cannot change themselves or another owner: ${what}`, async () => {
      const other = await fixture.person({ role: "owner" });
      assert.equal((await act(owner.userId)).fault, "self_protected");
      assert.equal((await act(other.userId)).fault, "owner_protected");
    });
  }

  test("a disabled user's sessions end at once, and enabling the user does not restore them", async () => {
    const person = await fixture.person();
    await fixture.gateway.call(users.disable, { id: person.userId, disabled: true }, asOwner());
    assert.equal((await stateOf(fixture, person.session)).state, "unknown");
    const back = await fixture.gateway.call(users.disable, { id: person.userId, disabled: false }, asOwner());
    assert.deepEqual(back, { id: person.userId, disabled: false });
    assert.equal((await stateOf(fixture, person.session)).state, "unknown");
  });

  test("a deleted user is not listed, and their servers are released", async () => {
    const person = await fixture.person();
    await fixture.gateway.call(users.remove, { id: person.userId }, asOwner());
    assert.equal((await stateOf(fixture, person.session)).state, "unknown");
    await until(async () => released.includes(person.userId));
    const shown = await fixture.gateway.call(users.read, { id: person.userId }, asOwner());
    assert.ok(shown.deleted_at);
    const again = await fixture.refused(users.remove, { id: person.userId }, asOwner());
    assert.equal(again.fault, "not_found");
  });

  test("the end of an account is announced once to every service", async () => {
    const received: { user_id: string; by: string; mc_uuids: string[] }[] = [];
    const filter = eventFilter(accounts.accountRetired);
    const stop = fixture.lifecycle.listen(filter, (_subject, body) => {
      received.push(accounts.accountRetired.data.parse(JSON.parse(Buffer.from(body).toString("utf8"))));
    });
    const mcUuid = "9c0e6a52-0b39-3d0c-9b5f-3f7f4a3f3e12";
    const [disabled, deleted] = [await fixture.person(), await fixture.person()];
    await fixture.gateway.call(users.addLink, { id: disabled.userId, mc_uuid: mcUuid }, asOwner());
    await fixture.gateway.call(users.disable, { id: disabled.userId, disabled: true }, asOwner());
    await fixture.gateway.call(users.disable, { id: disabled.userId, disabled: false }, asOwner());
    await fixture.gateway.call(users.remove, { id: deleted.userId }, asOwner());
    await until(() => received.some(({ user_id }) => user_id === deleted.userId));
    stop();
    const ours = received.filter(({ user_id }) => user_id === disabled.userId || user_id === deleted.userId);
    assert.deepEqual(
      ours.map(({ user_id, by, mc_uuids }) => ({ user_id, by, mc_uuids })),
      [
        { user_id: disabled.userId, by: "disabled", mc_uuids: [mcUuid] },
        { user_id: deleted.userId, by: "deleted", mc_uuids: [] },
      ],
    );
  });

  test("the address of a deleted user is free for another account", async () => {
    const about = { email: "again@example.org", emailVerified: true };
    const person = await fixture.person(about);
    await fixture.gateway.call(users.remove, { id: person.userId }, asOwner());
    await assert.doesNotReject(fixture.person(about));
  });

  test("a deletion whose servers could not be released is retried until they are", async () => {
    isLifecycleUp = false;
    released = [];
    const person = await fixture.person();
    await fixture.gateway.call(users.remove, { id: person.userId }, asOwner());
    isLifecycleUp = true;
    await until(async () => {
      fixture.pass(100);
      return released.includes(person.userId);
    });
    const open = () =>
      fixture.database.admin("select 1 from identity.user_deletions where released_at is null");
    await until(async () => (await open()).length === 0);
  });

  test("sessions of a user are listed and ended, one and all", async () => {
    const person = await fixture.person();
    const second = await fixture.session(person.userId);
    const { sessions } = await fixture.gateway.call(users.listSessions, { id: person.userId }, asOwner());
    assert.equal(sessions.length, 2);
    assert.ok(sessions.every((session) => !("current" in session)));
    const one = { id: person.userId, hash: second.hash };
    await fixture.gateway.call(users.revokeSession, one, asOwner());
    assert.equal((await fixture.refused(users.revokeSession, one, asOwner())).fault, "session_not_found");
    const foreign = await fixture.refused(users.revokeSession, { ...one, hash: owner.session }, asOwner());
    assert.equal(foreign.fault, "session_not_found");
    await fixture.gateway.call(users.revokeSessions, { id: person.userId }, asOwner());
    assert.equal((await stateOf(fixture, person.session)).state, "unknown");
  });

  test("passkeys of another user are removed; one's own only with a fresh proof", async () => {
    const person = await fixture.person();
    const bind = (userId: string) =>
      fixture.database.admin(
        `insert into identity.webauthn_credentials (id, user_id, credential_id, public_key, created_at)
         values ($1, $1, $1, '', now())`,
        [userId],
      );
    await bind(person.userId);
    await fixture.gateway.call(users.removePasskeys, { id: person.userId }, asOwner());
    const left = await fixture.database.admin(
      "select 1 from identity.webauthn_credentials where user_id = $1",
      [person.userId],
    );
    assert.equal(left.length, 0);
    assert.equal((await stateOf(fixture, person.session)).state, "unknown", "the lost device is signed out");
    const other = await fixture.person({ role: "owner" });
    await bind(other.userId);
    fixture.pass(6 * minute);
    const own = { id: other.userId };
    const refused = await fixture.refused(users.removePasskeys, own, { principal: other.principal });
    assert.equal(refused.fault, "reauth_required");
  });

  test("a link is added once, never to two users, and its source is derived from the UUID", async () => {
    const [one, two] = [await fixture.person(), await fixture.person()];
    const mcUuid = "9c0e6a52-0b39-3d0c-9b5f-3f7f4a3f3e11";
    const link = { id: one.userId, mc_uuid: mcUuid };
    for (let times = 0; times < 2; times++) {
      const answer = await fixture.gateway.call(users.addLink, link, asOwner());
      assert.deepEqual(answer, { ok: true, mc_uuid: mcUuid, auth_source: "thirdparty" });
    }
    const taken = await fixture.refused(users.addLink, { ...link, id: two.userId }, asOwner());
    assert.equal(taken.fault, "already_linked");
    const { linked_accounts: linked } = await fixture.gateway.call(users.read, { id: one.userId }, asOwner());
    assert.equal(linked?.[0]?.mc_uuid, mcUuid);
    await fixture.gateway.call(users.removeLink, link, asOwner());
    assert.equal((await fixture.refused(users.removeLink, link, asOwner())).fault, "not_found");
  });

  test("limits are replaced all at once, and rejected when out of range", async () => {
    const person = await fixture.person();
    const id = person.userId;
    const none = { max_servers: null, max_cpu_milli: null, max_memory_mb: null, max_storage_gb: null };
    assert.deepEqual(await fixture.gateway.call(quotas.read, { id }, asOwner()), { user_id: id, ...none });
    await fixture.gateway.call(quotas.write, { id, max_servers: 3, max_storage_gb: 0 }, asOwner());
    const limits = { ...none, max_servers: 3, max_storage_gb: 0 };
    assert.deepEqual(await fixture.lifecycle.call(quotas.readLimits, { user_id: id }), {
      limits,
      active: true,
    });
    await fixture.gateway.call(quotas.write, { id }, asOwner());
    assert.deepEqual(await fixture.gateway.call(quotas.read, { id }, asOwner()), { user_id: id, ...none });
    for (const max_servers of [-1, 2_147_483_648]) {
      const refused = await fixture.refused(quotas.write, { id, max_servers }, asOwner());
      assert.equal(refused.fault, "invalid_quota");
    }
    const nobody = await fixture.refused(quotas.write, { id: "nobody" }, asOwner());
    assert.equal(nobody.fault, "not_found");
    assert.equal((await fixture.lifecycle.call(quotas.readLimits, { user_id: "nobody" })).active, false);
  });

  const unknown: [what: string, act: () => Promise<{ fault: string }>][] = [
    ["read", () => fixture.refused(users.read, { id: "nobody" }, asOwner())],
    ["changed", () => fixture.refused(users.patch, { id: "nobody", role: "user" }, asOwner())],
    ["disabled", () => fixture.refused(users.disable, { id: "nobody", disabled: true }, asOwner())],
    ["deleted", () => fixture.refused(users.remove, { id: "nobody" }, asOwner())],
    ["asked for sessions", () => fixture.refused(users.listSessions, { id: "nobody" }, asOwner())],
    ["signed out", () => fixture.refused(users.revokeSessions, { id: "nobody" }, asOwner())],
    ["given limits", () => fixture.refused(quotas.read, { id: "nobody" }, asOwner())],
  ];
  for (const [what, act] of unknown) {
    test(`an unknown user is not ${what}`, async () => assert.equal((await act()).fault, "not_found"));
  }
});
