import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { until } from "@svc/mesh/testing";
import { eventFilter, links, type Principal } from "@svc/proto";
import { type Fixture, startFixture } from "../testing/fixture.ts";
import { linkPlayer } from "./store.ts";

const minute = 60_000;
const day = 24 * 60 * minute;
const velocity: Principal = { kind: "caller", caller: "velocity" };

describe("linked and barred players", () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture();
  });
  after(() => fixture.stop());

  const link = (userId: string, mcUuid: string) =>
    fixture.store.db
      .transaction()
      .execute((trx) => linkPlayer(trx, { userId, mcUuid, authSource: "mojang", now: fixture.now() }));

  test("players are named by the live accounts they are linked to", async () => {
    const [live, gone, uuid, other] = [
      await fixture.person(),
      await fixture.person(),
      randomUUID(),
      randomUUID(),
    ];
    await link(live.userId, uuid);
    await link(gone.userId, other);
    await fixture.database.admin("update identity.users set disabled = true where id = $1", [gone.userId]);
    const { names } = await fixture.lifecycle.call(links.namePlayers, {
      mc_uuids: [uuid, other, randomUUID()],
    });
    assert.deepEqual(names, { [uuid]: live.principal.username });
    assert.deepEqual(await fixture.lifecycle.call(links.namePlayers, { mc_uuids: [] }), { names: {} });
  });

  test("the gate reads which of many players are linked, in any spelling", async () => {
    const limbo: Principal = { kind: "caller", caller: "limbo" };
    const statuses = async (mc_uuids: string[]) =>
      (await fixture.internal.call(links.linkStatuses, { mc_uuids }, { principal: limbo })).linked;
    const [live, retired] = [await fixture.person(), await fixture.person()];
    const [one, other] = [randomUUID(), randomUUID()];
    await link(live.userId, one);
    await link(retired.userId, other);
    await fixture.database.admin("update identity.users set deleted_at = now() where id = $1", [
      retired.userId,
    ]);
    const strangers = Array.from({ length: 497 }, () => randomUUID());
    const asked = [...strangers, one.replaceAll("-", "").toUpperCase(), one, other];
    assert.deepEqual((await statuses(asked)).sort(), [one, other].sort());
    assert.deepEqual(await statuses(strangers), []);
    assert.deepEqual(await statuses([]), []);
    await assert.rejects(statuses([...asked, randomUUID()]), { fault: "bad_request" });
  });

  test("of many players the barred ones are returned with the reason", async () => {
    const [live, disabled, deleted] = [
      await fixture.person(),
      await fixture.person(),
      await fixture.person(),
    ];
    const [good, off, gone, barred, stranger] = Array.from({ length: 5 }, () => randomUUID()) as [
      ...[string, string, string, string, string],
    ];
    await link(live.userId, good);
    await link(disabled.userId, off);
    await link(deleted.userId, gone);
    await fixture.database.admin("update identity.users set disabled = true where id = $1", [
      disabled.userId,
    ]);
    await fixture.database.admin(
      "update identity.users set disabled = true, deleted_at = now() where id = $1",
      [deleted.userId],
    );
    await reclaim(barred, "Squatter");
    const ask = async (mc_uuids: string[]) =>
      (await fixture.internal.call(links.readStandings, { mc_uuids }, { principal: velocity })).standings;
    assert.deepEqual(await ask([good, off.toUpperCase().replaceAll("-", ""), gone, barred, stranger]), {
      [off]: "account_disabled",
      [gone]: "account_deleted",
      [barred]: "barred",
      [stranger]: "not_linked",
    });
    assert.deepEqual(await ask([]), {});
    await assert.rejects(ask(Array.from({ length: 501 }, () => randomUUID())), { fault: "bad_request" });
  });

  const reclaim = (squatter_uuid: string, username: string, data_ref?: string) =>
    fixture.internal.call(
      links.reclaimName,
      { squatter_uuid, username, ...(data_ref !== undefined && { data_ref }) },
      { principal: velocity },
    );
  const isBarred = async (mc_uuid: string) =>
    (await fixture.internal.call(links.readBlacklist, { mc_uuid }, { principal: velocity })).blacklisted;

  test("a re-claim bars the UUID and keeps its data for thirty days, once", async () => {
    const uuid = randomUUID();
    assert.equal(await isBarred(uuid), false);
    const announced: unknown[] = [];
    const stop = fixture.lifecycle.listen(eventFilter(links.playerBarred), (_subject, body) => {
      const event = JSON.parse(Buffer.from(body).toString("utf8")) as { mc_uuid: string };
      // An earlier test's event may still be in the outbox.
      if (event.mc_uuid === uuid) announced.push(event);
    });
    const at = fixture.now().toISOString();
    const first = await reclaim(uuid, "Notch", "world/playerdata/1");
    await until(() => announced.length > 0);
    stop();
    assert.deepEqual(announced, [{ mc_uuid: uuid, username: "Notch", at }]);
    const expires = new Date(fixture.now().getTime() + 30 * day).toISOString();
    assert.deepEqual(first, { blacklisted: true, username: "Notch", hold_expires_at: expires });
    fixture.pass(minute);
    assert.deepEqual(await reclaim(uuid.toUpperCase(), "Notch"), first);
    assert.equal(await isBarred(uuid), true);
    assert.equal(await isBarred(randomUUID()), false);
  });

  test("parallel re-claims have one effect", async () => {
    const uuid = randomUUID();
    const answers = await Promise.all(Array.from({ length: 5 }, () => reclaim(uuid, "Herobrine")));
    assert.equal(new Set(answers.map((answer) => answer.hold_expires_at)).size, 1);
  });

  test("a player who is linked to staff is never barred", async () => {
    const [admin, uuid] = [await fixture.person({ role: "admin" }), randomUUID()];
    await link(admin.userId, uuid);
    await assert.rejects(reclaim(uuid, "Admin"), { fault: "protected_admin" });
    assert.equal(await isBarred(uuid), false);
  });

  test("a re-claimed name must be a legal player name", async () => {
    for (const username of ["", "Nоtch", "a b", "x".repeat(17), "Notch\u0000", "ｎotch"])
      await assert.rejects(reclaim(randomUUID(), username), { fault: "bad_request" });
  });
});
