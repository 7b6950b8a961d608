import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { until } from "@svc/mesh/testing";
import { accounts, links } from "@svc/proto";
import { linkPlayer } from "../link/store.ts";
import { type Fixture, type Person, startFixture, stateOf } from "../testing/fixture.ts";
import { createPasskeyPeople } from "../testing/passkeys.ts";

describe("links and names", () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture();
  });
  after(() => fixture.stop());
  const link = (userId: string, mcUuid: string) =>
    fixture.store.db
      .transaction()
      .execute((trx) => linkPlayer(trx, { userId, mcUuid, authSource: "mojang", now: fixture.now() }));
  const find = (mc_uuid: string) => fixture.lifecycle.call(accounts.findLink, { mc_uuid });

  test("a linked player resolves to the live account, in any spelling of the UUID", async () => {
    const [person, uuid] = [await fixture.person({ role: "admin" }), randomUUID()];
    await link(person.userId, uuid);
    const account = { user_id: person.userId, role: "admin" };
    assert.deepEqual(await find(uuid), { account });
    assert.deepEqual(await find(uuid.replaceAll("-", "").toUpperCase()), { account });
  });

  test("an unknown player has no account", async () => {
    assert.deepEqual(await find(randomUUID()), { account: null });
  });

  test("a disabled or deleted account is not returned", async () => {
    for (const change of ["disabled = true", "deleted_at = now()"]) {
      const [person, uuid] = [await fixture.person(), randomUUID()];
      await link(person.userId, uuid);
      await fixture.database.admin(`update identity.users set ${change} where id = $1`, [person.userId]);
      assert.deepEqual(await find(uuid), { account: null });
    }
  });

  test("linking twice changes nothing, and a player has one account", async () => {
    const [one, other, uuid] = [await fixture.person(), await fixture.person(), randomUUID()];
    await link(one.userId, uuid);
    await link(one.userId, uuid);
    await assert.rejects(link(other.userId, uuid), { fault: "already_linked" });
    const { mc_uuids } = await fixture.lifecycle.call(accounts.listLinks, { user_id: one.userId });
    assert.deepEqual(mc_uuids, [uuid]);
    assert.deepEqual(await fixture.lifecycle.call(accounts.listLinks, { user_id: other.userId }), {
      mc_uuids: [],
    });
  });

  test("accounts are named by their address, or their user name without one", async () => {
    const [one, other] = [await fixture.person({ email: "named@example.org" }), await fixture.person()];
    const link = "insert into identity.account_links (user_id, mc_uuid) values ($1, $2)";
    const named = "0d9e5bdb-1b3c-4c8f-9c39-0d2a3a7f6c11";
    await fixture.database.admin(link, [one.userId, named]);
    const { names, players } = await fixture.lifecycle.call(accounts.nameAccounts, {
      user_ids: [one.userId, other.userId, "nobody"],
    });
    assert.deepEqual(names, {
      [one.userId]: "named@example.org",
      [other.userId]: other.principal.username,
    });
    assert.deepEqual(players, { [one.userId]: [named] });
    const nobody = await fixture.lifecycle.call(accounts.nameAccounts, { user_ids: [] });
    assert.deepEqual(nobody, { names: {}, players: {} });
  });
});

describe("unlinking one's own player", () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture();
  });
  after(() => fixture.stop());
  const people = createPasskeyPeople(() => fixture);
  const link = async ({ userId }: Person, mc_uuid: string = randomUUID()) => {
    const add =
      "insert into identity.account_links (user_id, mc_uuid, auth_source) values ($1, $2, 'mojang')";
    await fixture.database.admin(add, [userId, mc_uuid]);
    return mc_uuid;
  };
  const linked = async (person: Person) =>
    (await fixture.gateway.call(links.listOwn, {}, people.as(person))).links.map(({ mc_uuid }) => mc_uuid);
  const unlink = (person: Person, mc_uuid: string) =>
    fixture.gateway.call(links.removeOwn, { mc_uuid }, people.as(person));
  const refused = async (person: Person, mc_uuid: string) =>
    (await fixture.refused(links.removeOwn, { mc_uuid }, people.as(person))).fault;
  const mailed = () => fixture.person({ email: `${randomUUID()}@example.org`, emailVerified: true });

  test("ends the player's access and the other sessions, and is audited", async () => {
    const person = await mailed();
    const other = await fixture.session(person.userId);
    const uuid = await link(person);
    assert.deepEqual(await linked(person), [uuid]);
    assert.equal(await unlink(person, uuid.toUpperCase()), null);
    assert.deepEqual(await linked(person), []);
    assert.deepEqual(await fixture.lifecycle.call(accounts.findLink, { mc_uuid: uuid }), { account: null });
    assert.equal((await stateOf(fixture, other.hash)).state, "unknown");
    assert.equal((await stateOf(fixture, person.session)).state, "live");
    await until(async () => {
      const audit = "select from identity.audit_logs where action = 'account.unlink' and actor_user_id = $1";
      return (await fixture.database.admin(audit, [person.userId])).length === 1;
    });
    assert.equal(await refused(person, uuid), "not_found");
  });

  test("requires a proof, and one's own player", async () => {
    const [person, stranger] = [await mailed(), await mailed()];
    const uuid = await link(person);
    assert.equal(await refused(stranger, uuid), "not_found");
    fixture.pass(5 * 60_000);
    assert.equal(await refused(person, uuid), "reauth_required");
    assert.deepEqual(await linked(person), [uuid]);
    assert.deepEqual(await linked(stranger), []);
  });

  test("never removes the last way in: an unverified address is none, a passkey is one", async () => {
    const person = await fixture.person({ email: "unproved-link@example.org" });
    const uuid = await link(person);
    assert.equal(await refused(person, uuid), "last_link");
    assert.deepEqual(await linked(person), [uuid]);
    await people.register(person, people.newDevice());
    assert.equal(await unlink(person, uuid), null);
  });

  test("when the last two players are unlinked at the same time, one is kept", async () => {
    const person = await fixture.person();
    const uuids = [await link(person), await link(person)];
    const ends = await Promise.allSettled(uuids.map((uuid) => unlink(person, uuid)));
    assert.equal(ends.filter(({ status }) => status === "fulfilled").length, 1);
    assert.equal((await linked(person)).length, 1);
  });

  test("the caller's own view has the user name", async () => {
    const person = await fixture.person();
    const me = await fixture.gateway.call(accounts.me, {}, people.as(person));
    assert.equal(me.username, person.principal.username);
  });
});
