import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { accounts } from "@svc/proto";
import { linkPlayer } from "../link/store.ts";
import { type Fixture, startFixture } from "../testing/fixture.ts";

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

  test("a linked player leads to the live account, in any spelling of the id", async () => {
    const [person, uuid] = [await fixture.person({ role: "admin" }), randomUUID()];
    await link(person.userId, uuid);
    const account = { user_id: person.userId, role: "admin" };
    assert.deepEqual(await find(uuid), { account });
    assert.deepEqual(await find(uuid.replaceAll("-", "").toUpperCase()), { account });
  });

  test("an unknown player has no account", async () => {
    assert.deepEqual(await find(randomUUID()), { account: null });
  });

  test("a disabled or deleted account is no account", async () => {
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
