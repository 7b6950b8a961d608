import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, beforeEach, describe, test } from "node:test";
import { until } from "@svc/mesh/testing";
import { Fault, quotas } from "@svc/proto";
import {
  faultOf,
  live,
  newName,
  retired,
  type ServerTransferFixture,
  startServerTransferFixture,
} from "../testing/server-transfer-fixture.ts";

describe("an interrupted redemption", () => {
  let all: ServerTransferFixture;
  before(async () => {
    all = await startServerTransferFixture();
  });
  after(() => all.fixture.stop());
  beforeEach(() => all.lifecycle.calm());

  test("while lifecycle is down it is unavailable; what lifecycle did is kept, and the same code gets the same response", async () => {
    const world = newName();
    const { source, target, code } = await all.ready(world);
    all.lifecycle.after = async () => {
      throw new Fault("unavailable");
    };
    assert.equal(await faultOf(all.redeem(target, code)), "unavailable");
    assert.equal((await all.read(source)).state, "code_issued");
    assert.equal(await faultOf(all.open(source.mcUuid)), "account_is_retired");
    all.lifecycle.after = async () => {};
    await until(async () => (await all.rowOf(source.userId))?.["state"] === "redeemed");
    assert.deepEqual(await all.account(source.userId), retired);
    const answer = await all.redeem(target, code);
    assert.deepEqual(answer, { migrated: true, servers_moved: 1, servers: [world] });
    assert.equal(await faultOf(all.redeem(target, code)), "invalid_code");
  });

  /** The state after a process died right after accepting the code. */
  const dieAfterTaking = async (sourceId: string) => {
    await all.fixture.database.admin(
      `update identity.account_migrations set state = 'redeeming', leased_until = $2
       where source_user_id = $1`,
      [sourceId, new Date(all.fixture.now().getTime() + 30_000)],
    );
  };

  test("killed after the code was accepted: the lease protects it, then any replica resumes it", async () => {
    const { source, target, code } = await all.ready(newName());
    await dieAfterTaking(source.userId);
    assert.equal(await faultOf(all.redeem(target, code)), "invalid_code");
    assert.equal(all.lifecycle.calls, 0);
    all.fixture.pass(30_000);
    await until(async () => (await all.rowOf(source.userId))?.["state"] === "redeemed");
    assert.equal((await all.redeem(target, code)).servers_moved, 1);
    assert.deepEqual(await all.account(source.userId), retired);
  });

  test("killed after the servers were transferred: nothing is transferred twice, and the response is the first one", async () => {
    const world = newName();
    const { source, target, code } = await all.ready(world);
    const row = await all.rowOf(source.userId);
    all.lifecycle.move({
      transfer_id: String(row?.["id"]),
      from_user_id: source.userId,
      to_user_id: target.userId,
      limits: { max_servers: null, max_cpu_milli: null, max_memory_mb: null, max_storage_gb: null },
    });
    await dieAfterTaking(source.userId);
    all.fixture.pass(30_000);
    await until(async () => (await all.rowOf(source.userId))?.["state"] === "redeemed");
    assert.deepEqual((await all.redeem(target, code)).servers, [world]);
  });

  test("killed before the target's quota was checked: the loop makes the code valid again and nothing is transferred", async () => {
    const { source, target, code } = await all.ready(newName());
    await all.fixture.database.admin("insert into identity.quotas (user_id, max_servers) values ($1, 0)", [
      target.userId,
    ]);
    await dieAfterTaking(source.userId);
    all.fixture.pass(30_000);
    await until(async () => (await all.rowOf(source.userId))?.["state"] === "code_issued");
    assert.deepEqual(await all.account(source.userId), live);
    assert.equal(await faultOf(all.redeem(target, code)), "migrate_quota_exceeded");
    assert.equal(all.lifecycle.ownedBy(source.userId).length, 1);
  });

  test("the database is lost after the transfer: the target has the servers, and the source is retired later", async () => {
    const world = newName();
    const { source, target, code } = await all.ready(world);
    all.lifecycle.after = () => all.fixture.wire.cut();
    assert.equal(await faultOf(all.redeem(target, code)), "unavailable");
    assert.deepEqual(all.lifecycle.ownedBy(target.userId), [world]);
    all.lifecycle.after = async () => {};
    await all.fixture.wire.recover();
    all.fixture.pass(30_000);
    await until(async () => (await all.rowOf(source.userId))?.["state"] === "redeemed");
    assert.deepEqual((await all.redeem(target, code)).servers, [world]);
    assert.deepEqual(await all.account(source.userId), retired);
  });

  test("during the transfer the source cannot claim servers, and one that it claimed anyway is released", async () => {
    const { source, target, code } = await all.ready(newName());
    const stray = newName();
    let active: boolean | undefined;
    all.lifecycle.after = async () => {
      active = (await all.fixture.lifecycle.call(quotas.readLimits, { user_id: source.userId })).active;
      all.lifecycle.own(source.userId, stray);
    };
    await all.redeem(target, code);
    assert.equal(active, false);
    await until(() => all.lifecycle.released.includes(source.userId));
    assert.deepEqual(all.lifecycle.ownedBy(source.userId), []);
    assert.equal(all.lifecycle.ownedBy(target.userId).length, 1);
  });

  test("of two accounts that transfer to each other at once one is retired, and all servers have a live owner", async () => {
    for (let round = 0; round < 5; round++) {
      const [one, other] = [await all.confirmed(newName()), await all.confirmed(newName())];
      const [toOther, toOne] = [await all.issue(one, other.userId), await all.issue(other, one.userId)];
      const answers = await Promise.all([
        faultOf(all.redeem(other, toOther.code)),
        faultOf(all.redeem(one, toOne.code)),
      ]);
      assert.equal(answers.filter((answer) => answer === "none").length, 1);
      const refusals = ["unavailable", "invalid_code", "unauthorized"];
      assert.ok(answers.some((answer) => refusals.includes(answer)));
      const owner = answers[0] === "none" ? other : one;
      assert.deepEqual(await all.account(owner.userId), live);
      assert.equal(all.lifecycle.ownedBy(owner.userId).length, 2);
    }
  });

  test("an account that is receiving servers cannot transfer its own at the same time", async () => {
    const { source, target, code } = await all.ready(newName());
    const third = await all.fixture.person();
    const email = `middle-${randomUUID().slice(0, 8)}@example.org`;
    const sql = "update identity.users set email = $2, email_verified = true where id = $1";
    await all.fixture.database.admin(sql, [target.userId, email]);
    await all.open(await all.link(target.userId));
    await all.verify(target, await all.mailCode({ ...target, email }));
    const onward = await all.issue(target, third.userId);
    let meanwhile = "";
    all.lifecycle.before = async () => {
      all.lifecycle.before = async () => {};
      meanwhile = await faultOf(all.redeem(third, onward.code));
    };
    await all.redeem(target, code);
    assert.equal(meanwhile, "unavailable");
    assert.equal((await all.redeem(third, onward.code)).servers_moved, 1);
    assert.deepEqual(await all.account(source.userId), retired);
  });
});
