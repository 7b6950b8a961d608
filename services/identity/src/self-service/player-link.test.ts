import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { accounts } from "@svc/proto";
import { linkPlayer } from "../link/store.ts";
import { type Bed, startBed } from "../testing/fixture.ts";

describe("links and names", () => {
  let bed: Bed;
  before(async () => {
    bed = await startBed();
  });
  after(() => bed.stop());
  const link = (userId: string, mcUuid: string) =>
    bed.store.db
      .transaction()
      .execute((trx) => linkPlayer(trx, { userId, mcUuid, authSource: "mojang", now: bed.now() }));
  const find = (mc_uuid: string) => bed.lifecycle.call(accounts.findLink, { mc_uuid });

  test("a linked player leads to the live account, in any spelling of the id", async () => {
    const [person, uuid] = [await bed.person({ role: "admin" }), randomUUID()];
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
      const [person, uuid] = [await bed.person(), randomUUID()];
      await link(person.userId, uuid);
      await bed.database.admin(`update identity.users set ${change} where id = $1`, [person.userId]);
      assert.deepEqual(await find(uuid), { account: null });
    }
  });

  test("linking twice changes nothing, and a player has one account", async () => {
    const [one, other, uuid] = [await bed.person(), await bed.person(), randomUUID()];
    await link(one.userId, uuid);
    await link(one.userId, uuid);
    await assert.rejects(link(other.userId, uuid), { fault: "already_linked" });
    const { mc_uuids } = await bed.lifecycle.call(accounts.listLinks, { user_id: one.userId });
    assert.deepEqual(mc_uuids, [uuid]);
    assert.deepEqual(await bed.lifecycle.call(accounts.listLinks, { user_id: other.userId }), {
      mc_uuids: [],
    });
  });

  test("accounts are named by their address, or their user name without one", async () => {
    const [one, other] = [await bed.person({ email: "named@example.org" }), await bed.person()];
    const link = "insert into identity.account_links (user_id, mc_uuid) values ($1, $2)";
    const named = "0d9e5bdb-1b3c-4c8f-9c39-0d2a3a7f6c11";
    await bed.database.admin(link, [one.userId, named]);
    const { names, players } = await bed.lifecycle.call(accounts.nameAccounts, {
      user_ids: [one.userId, other.userId, "nobody"],
    });
    assert.deepEqual(names, {
      [one.userId]: "named@example.org",
      [other.userId]: other.principal.username,
    });
    assert.deepEqual(players, { [one.userId]: [named] });
    const nobody = await bed.lifecycle.call(accounts.nameAccounts, { user_ids: [] });
    assert.deepEqual(nobody, { names: {}, players: {} });
  });
});
