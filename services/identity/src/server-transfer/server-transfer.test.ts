import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, beforeEach, describe, test } from "node:test";
import { until } from "@svc/mesh/testing";
import { stateOf } from "../testing/fixture.ts";
import {
  faultOf,
  live,
  newName,
  retired,
  type ServerTransferFixture,
  startServerTransferFixture,
} from "../testing/server-transfer-fixture.ts";

const minute = 60_000;

describe("a server transfer", () => {
  let all: ServerTransferFixture;
  before(async () => {
    all = await startServerTransferFixture();
  });
  after(() => all.fixture.stop());
  beforeEach(() => all.lifecycle.calm());

  test("that was opened in the game and confirmed by mail transfers everything at once to the target of its code", async () => {
    const names = [newName(), newName()].sort();
    const [source, target] = [await all.player(), await all.fixture.person()];
    const second = await all.fixture.session(source.userId);
    all.lifecycle.own(source.userId, ...names);
    assert.deepEqual(await all.read(source), { active: false });
    assert.deepEqual(await all.open(source.mcUuid), { started: true, state: "initiated" });
    assert.deepEqual(await all.read(source), { active: true, state: "initiated" });
    assert.deepEqual(await all.verify(source, await all.mailCode(source)), { confirmed: true });
    assert.equal((await all.read(source)).state, "confirmed");
    const { code, expires_at } = await all.issue(source, target.userId);
    assert.match(code, /^[A-HJ-NP-Z2-9]{8}$/);
    assert.equal(Date.parse(expires_at), all.fixture.now().getTime() + 10 * minute);
    assert.equal((await all.read(source)).target_user_id, target.userId);
    const answer = await all.redeem(target, ` ${code.toLowerCase()} `);
    assert.deepEqual(answer, { migrated: true, servers_moved: 2, servers: names });
    assert.deepEqual(all.lifecycle.ownedBy(target.userId).sort(), names);
    assert.deepEqual(await all.account(source.userId), retired);
    for (const hash of [source.session, second.hash])
      assert.equal((await stateOf(all.fixture, hash)).state, "unknown");
    assert.equal(await faultOf(all.redeem(target, code)), "invalid_code");
  });

  test("the source gets a mail when the code is issued and when it is used", async () => {
    const { source, target, code } = await all.ready(newName());
    const first = await all.fixture.smtp.awaitMail(source.email, 2);
    assert.ok(first.subject.includes("about to be transferred"));
    assert.ok(!first.source.includes(code));
    await all.redeem(target, code);
    const second = await all.fixture.smtp.awaitMail(source.email, 3);
    assert.ok(second.subject.includes("were transferred"));
    assert.ok(second.source.includes(target.principal.username));
  });

  test("can be opened only for a linked player's live account that is not the owner's", async () => {
    assert.equal(await faultOf(all.open(randomUUID())), "migrate_not_linked");
    assert.equal(await faultOf(all.open("nobody")), "bad_request");
    assert.equal(await faultOf(all.open((await all.player({ role: "owner" })).mcUuid)), "owner_protected");
    const gone = await all.player();
    await all.fixture.database.admin("update identity.users set disabled = true where id = $1", [
      gone.userId,
    ]);
    assert.equal(await faultOf(all.open(gone.mcUuid)), "account_is_retired");
    const { source, target, code } = await all.ready();
    await all.redeem(target, code);
    assert.equal(await faultOf(all.open(source.mcUuid)), "account_is_retired");
  });

  test("a new start replaces an unfinished transfer and its code", async () => {
    const { source, target, code } = await all.ready();
    await all.open(source.mcUuid);
    assert.deepEqual(await all.read(source), { active: true, state: "initiated" });
    assert.equal(await faultOf(all.redeem(target, code)), "invalid_code");
  });

  test("parallel starts leave one transfer", async () => {
    const source = await all.player();
    await Promise.all(Array.from({ length: 10 }, () => all.open(source.mcUuid)));
    const rows = await all.fixture.database.admin(
      "select 1 from identity.account_migrations where source_user_id = $1",
      [source.userId],
    );
    assert.equal(rows.length, 1);
  });

  test("every step is rejected without an open transfer", async () => {
    const person = await all.player();
    assert.equal(await faultOf(all.startCode(person)), "no_migration");
    assert.equal(await faultOf(all.verify(person, "123456")), "no_migration");
    assert.equal(await faultOf(all.issue(person, "somebody")), "no_migration");
  });

  test("an account without a verified address has no factor", async () => {
    const source = await all.player({ emailVerified: false });
    await all.open(source.mcUuid);
    assert.equal(await faultOf(all.startCode(source)), "no_step_up_factor");
  });

  test("a second mail within a minute is rejected, and so is a mail after the confirmation", async () => {
    const source = await all.player();
    await all.open(source.mcUuid);
    const code = await all.mailCode(source);
    const again = () => all.startCode(source);
    assert.equal(await faultOf(again()), "otp_resend_cooldown");
    await all.verify(source, code);
    assert.equal(await faultOf(again()), "already_confirmed");
    assert.equal(await faultOf(all.verify(source, code)), "already_confirmed");
  });

  test("wrong codes are counted: the fifth invalidates the code, and ten lock the account's codes", async () => {
    const source = await all.player();
    await all.open(source.mcUuid);
    const first = await all.mailCode(source);
    const wrong = first === "000000" ? "000001" : "000000";
    for (let index = 0; index < 5; index++)
      assert.equal(await faultOf(all.verify(source, wrong)), "invalid_code");
    assert.equal(await faultOf(all.verify(source, first)), "otp_locked");
    all.fixture.pass(minute);
    await all.mailCode(source);
    const spare = all.fixture.smtp.codeTo(source.email) === "000000" ? "000001" : "000000";
    for (let index = 0; index < 5; index++)
      assert.equal(await faultOf(all.verify(source, spare)), "invalid_code");
    assert.equal(
      await faultOf(all.verify(source, all.fixture.smtp.codeTo(source.email))),
      "otp_account_locked",
    );
    assert.equal((await all.read(source)).state, "initiated");
  });

  test("a confirmation is valid for ten minutes and only in its session", async () => {
    const source = await all.confirmed();
    const target = await all.fixture.person();
    const other = await all.fixture.session(source.userId);
    const elsewhere = { ...source, principal: { ...source.principal, session: other.hash } };
    assert.deepEqual(await all.read(elsewhere), { active: true, state: "initiated" });
    assert.equal(await faultOf(all.issue(elsewhere, target.userId)), "not_confirmed");
    all.fixture.pass(10 * minute);
    assert.deepEqual(await all.read(source), { active: true, state: "initiated" });
    assert.equal(await faultOf(all.issue(source, target.userId)), "not_confirmed");
    await all.verify(source, await all.mailCode(source));
    await all.issue(source, target.userId);
  });

  test("a transfer with an expired code is shown as initiated, and all steps can be repeated", async () => {
    const { source, target, code } = await all.ready(newName());
    all.fixture.pass(10 * minute);
    assert.deepEqual(await all.read(source), { active: true, state: "initiated" });
    assert.equal(await faultOf(all.redeem(target, code)), "invalid_code");
    await all.verify(source, await all.mailCode(source));
    const fresh = await all.issue(source, target.userId);
    assert.equal((await all.redeem(target, fresh.code)).servers_moved, 1);
  });

  test("a target must be another, known and live account", async () => {
    const source = await all.confirmed();
    const gone = await all.fixture.person();
    await all.fixture.database.admin("update identity.users set disabled = true where id = $1", [
      gone.userId,
    ]);
    assert.equal(await faultOf(all.issue(source, source.userId)), "invalid_target");
    assert.equal(await faultOf(all.issue(source, "nobody")), "target_not_found");
    assert.equal(await faultOf(all.issue(source, gone.userId)), "target_unavailable");
    const target = await all.fixture.person();
    await all.issue(source, target.userId);
    assert.equal(await faultOf(all.issue(source, target.userId)), "not_confirmed");
  });

  test("only the named target can redeem the code, and attempts of others change nothing", async () => {
    const { source, target, code } = await all.ready(newName());
    const stranger = await all.fixture.person();
    assert.equal(await faultOf(all.redeem(stranger, code)), "invalid_code");
    assert.equal(await faultOf(all.redeem(source, code)), "invalid_code");
    assert.equal(await faultOf(all.redeem(target, "AAAAAAAA")), "invalid_code");
    assert.equal(await faultOf(all.redeem(target, " ")), "bad_request");
    assert.equal(all.lifecycle.calls, 0);
    assert.equal((await all.redeem(target, code)).servers_moved, 1);
  });

  test("of ten parallel redeems one succeeds, and the others get invalid_code", async () => {
    const { source, target, code } = await all.ready(newName(), newName());
    const answers = await Promise.all(Array.from({ length: 10 }, () => faultOf(all.redeem(target, code))));
    assert.deepEqual(answers.sort(), [...Array.from({ length: 9 }, () => "invalid_code"), "none"]);
    assert.equal(all.lifecycle.calls, 1);
    assert.deepEqual(await all.account(source.userId), retired);
  });

  test("a target without enough quota gets nothing, and the code works once it has quota", async () => {
    const { source, target, code } = await all.ready(newName(), newName());
    const limit = async (most: number | null) => {
      await all.fixture.database.admin(
        `insert into identity.quotas (user_id, max_servers) values ($1, $2)
         on conflict (user_id) do update set max_servers = excluded.max_servers`,
        [target.userId, most],
      );
    };
    await limit(1);
    assert.equal(await faultOf(all.redeem(target, code)), "migrate_quota_exceeded");
    assert.equal(await faultOf(all.redeem(target, code)), "migrate_quota_exceeded");
    assert.equal(all.lifecycle.ownedBy(source.userId).length, 2);
    assert.deepEqual(await all.account(source.userId), live);
    assert.equal((await all.read(source)).state, "code_issued");
    await limit(2);
    assert.equal((await all.redeem(target, code)).servers_moved, 2);
  });

  test("a retired source cannot transfer", async () => {
    const { source, target, code } = await all.ready(newName());
    await all.fixture.database.admin("update identity.users set disabled = true where id = $1", [
      source.userId,
    ]);
    assert.equal(await faultOf(all.redeem(target, code)), "invalid_code");
    assert.equal(all.lifecycle.ownedBy(source.userId).length, 1);
  });

  test("links and ways in are not transferred", async () => {
    const { source, target, code } = await all.ready();
    await all.redeem(target, code);
    const links = await all.fixture.database.admin(
      "select mc_uuid from identity.account_links where user_id = $1",
      [source.userId],
    );
    assert.deepEqual(links, [{ mc_uuid: source.mcUuid }]);
  });

  test("every step is audited, and results are counted", async () => {
    const { target, code } = await all.ready(newName());
    const before = await all.fixture.metric('svc_account_migrations_total{result="redeemed"}');
    await all.redeem(target, code);
    assert.equal(await all.fixture.metric('svc_account_migrations_total{result="redeemed"}'), before + 1);
    const actions = async () => {
      const rows = await all.fixture.database.admin("select distinct action from identity.audit_logs");
      return rows.map((row) => row["action"]);
    };
    const wanted = ["start", "confirm", "issue_code", "redeem"].map((step) => `account.migrate.${step}`);
    await until(async () => {
      const found = await actions();
      return wanted.every((action) => found.includes(action));
    });
  });
});
