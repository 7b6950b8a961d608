import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, beforeEach, describe, test } from "node:test";
import { until } from "@svc/mesh/testing";
import {
  accountMigrations as contracts,
  Fault,
  isFault,
  ownership,
  type Principal,
  quotas,
} from "@svc/proto";
import { linkPlayer } from "../link/store.ts";
import { type Bed, type NewPerson, type Person, startBed, stateOf } from "../testing/bed.ts";

const minute = 60_000;
const velocity: Principal = { kind: "caller", caller: "velocity" };

/** Lifecycle's side: whose the servers are, moved all or none, once for each id. */
function createLifecycle() {
  const owners = new Map<string, string>();
  const moved = new Map<string, string[]>();
  const state = {
    owners,
    calls: 0,
    /** Runs before a move; may throw or wait. */
    before: async () => {},
    /** Runs after a move; may throw or wait. */
    after: async () => {},
    own: (userId: string, ...names: string[]) => {
      for (const name of names) owners.set(name, userId);
    },
    ownedBy: (userId: string) => [...owners].filter(([, id]) => id === userId).map(([name]) => name),
    transfer: async (input: {
      transfer_id: string;
      from_user_id: string;
      to_user_id: string;
      limits: quotas.Limits;
    }) => {
      state.calls += 1;
      await state.before();
      const servers = moved.get(input.transfer_id) ?? state.move(input);
      await state.after();
      return { servers };
    },
    move: (input: {
      transfer_id: string;
      from_user_id: string;
      to_user_id: string;
      limits: quotas.Limits;
    }) => {
      const servers = state.ownedBy(input.from_user_id).sort();
      const { max_servers: most } = input.limits;
      const total = servers.length + state.ownedBy(input.to_user_id).length;
      if (most !== null && total > most) throw new Fault("migrate_quota_exceeded");
      for (const name of servers) owners.set(name, input.to_user_id);
      moved.set(input.transfer_id, servers);
      return servers;
    },
  };
  return state;
}

describe("account migration", () => {
  let bed: Bed;
  const lifecycle = createLifecycle();
  const released: string[] = [];
  before(async () => {
    bed = await startBed({
      set: [
        "smtp.max_per_hour=100000",
        "identity.migration_retry=20ms",
        "identity.deletion_retry=20ms",
        "identity.notice_every=50ms",
      ],
    });
    bed.lifecycle.serve(ownership.transferAccount, (_context, input) => lifecycle.transfer(input));
    bed.lifecycle.serve(ownership.releaseAccount, (_context, { user_id }) => {
      released.push(user_id);
      const names = lifecycle.ownedBy(user_id);
      for (const name of names) lifecycle.owners.delete(name);
      return { released: names };
    });
  });
  after(() => bed.stop());
  beforeEach(() => {
    lifecycle.calls = 0;
    lifecycle.before = async () => {};
    lifecycle.after = async () => {};
  });

  const as = (person: Person) => ({ principal: person.principal });
  const player = async (about: NewPerson = {}) => {
    const email = `giver-${randomUUID().slice(0, 8)}@example.org`;
    const person = await bed.person({ email, emailVerified: true, ...about });
    const mcUuid = randomUUID();
    await bed.store.db
      .transaction()
      .execute((trx) =>
        linkPlayer(trx, { userId: person.userId, mcUuid, authSource: "mojang", now: bed.now() }),
      );
    return { ...person, email, mcUuid };
  };
  const open = (mc_uuid: string) => bed.internal.call(contracts.start, { mc_uuid }, { principal: velocity });
  const read = (person: Person) => bed.gateway.call(contracts.read, {}, as(person));
  const mailCode = async (person: Person & { email: string }) => {
    await bed.gateway.call(contracts.startCode, {}, as(person));
    return bed.smtp.codeTo(person.email);
  };
  const verify = (person: Person, code: string) =>
    bed.gateway.call(contracts.verifyCode, { code }, as(person));
  const issue = (person: Person, target_user_id: string) =>
    bed.gateway.call(contracts.issueCode, { target_user_id }, as(person));
  const redeem = (person: Person, code: string) => bed.gateway.call(contracts.redeem, { code }, as(person));
  const faultOf = async (answer: Promise<unknown>) => {
    try {
      await answer;
      return "none";
    } catch (error) {
      return isFault(error) ? error.fault : String(error);
    }
  };

  /** A source with servers that has proved itself. */
  const confirmed = async (...names: string[]) => {
    const source = await player();
    lifecycle.own(source.userId, ...names);
    await open(source.mcUuid);
    await verify(source, await mailCode(source));
    return source;
  };
  /** A source and a target with a code between them. */
  const ready = async (...names: string[]) => {
    const [source, target] = [await confirmed(...names), await bed.person()];
    const { code } = await issue(source, target.userId);
    return { source, target, code };
  };
  const account = async (userId: string) => {
    const rows = await bed.database.admin(
      "select disabled, deleted_at is not null as deleted from identity.users where id = $1",
      [userId],
    );
    return rows[0];
  };
  const retired = { disabled: true, deleted: true };
  const live = { disabled: false, deleted: false };
  const rowOf = async (sourceId: string) => {
    const rows = await bed.database.admin(
      "select id, state, told_at, servers from identity.account_migrations where source_user_id = $1",
      [sourceId],
    );
    return rows.at(-1);
  };
  const name = () => `world-${randomUUID().slice(0, 8)}`;

  test("the whole way: opened in the game, proved by mail, a code for one target, everything moves at once", async () => {
    const names = [name(), name()].sort();
    const [source, target] = [await player(), await bed.person()];
    const second = await bed.session(source.userId);
    lifecycle.own(source.userId, ...names);
    assert.deepEqual(await read(source), { active: false });
    assert.deepEqual(await open(source.mcUuid), { started: true, state: "initiated" });
    assert.deepEqual(await read(source), { active: true, state: "initiated" });
    assert.deepEqual(await verify(source, await mailCode(source)), { confirmed: true });
    assert.equal((await read(source)).state, "confirmed");
    const { code, expires_at } = await issue(source, target.userId);
    assert.match(code, /^[A-HJ-NP-Z2-9]{8}$/);
    assert.equal(Date.parse(expires_at), bed.now().getTime() + 10 * minute);
    assert.equal((await read(source)).target_user_id, target.userId);
    const answer = await redeem(target, ` ${code.toLowerCase()} `);
    assert.deepEqual(answer, { migrated: true, servers_moved: 2, servers: names });
    assert.deepEqual(lifecycle.ownedBy(target.userId).sort(), names);
    assert.deepEqual(await account(source.userId), retired);
    for (const hash of [source.session, second.hash])
      assert.equal((await stateOf(bed, hash)).state, "unknown");
    assert.equal(await faultOf(redeem(target, code)), "invalid_code");
  });

  test("the source is told by mail when the code is issued and when it is used", async () => {
    const { source, target, code } = await ready(name());
    const first = await bed.smtp.awaitMail(source.email, 2);
    assert.ok(first.subject.includes("about to change hands"));
    assert.ok(!first.source.includes(code));
    await redeem(target, code);
    const second = await bed.smtp.awaitMail(source.email, 3);
    assert.ok(second.subject.includes("handed over"));
    assert.ok(second.source.includes(target.principal.username));
  });

  test("what may be opened: a linked player's live account that is not the owner's", async () => {
    assert.equal(await faultOf(open(randomUUID())), "migrate_not_linked");
    assert.equal(await faultOf(open("nobody")), "bad_request");
    assert.equal(await faultOf(open((await player({ role: "owner" })).mcUuid)), "owner_protected");
    const gone = await player();
    await bed.database.admin("update identity.users set disabled = true where id = $1", [gone.userId]);
    assert.equal(await faultOf(open(gone.mcUuid)), "account_is_retired");
    const { source, target, code } = await ready();
    await redeem(target, code);
    assert.equal(await faultOf(open(source.mcUuid)), "account_is_retired");
  });

  test("a new start ends an unfinished migration and its code", async () => {
    const { source, target, code } = await ready();
    await open(source.mcUuid);
    assert.deepEqual(await read(source), { active: true, state: "initiated" });
    assert.equal(await faultOf(redeem(target, code)), "invalid_code");
  });

  test("parallel starts leave one migration", async () => {
    const source = await player();
    await Promise.all(Array.from({ length: 10 }, () => open(source.mcUuid)));
    const rows = await bed.database.admin(
      "select 1 from identity.account_migrations where source_user_id = $1",
      [source.userId],
    );
    assert.equal(rows.length, 1);
  });

  test("nothing of it works without a migration", async () => {
    const person = await player();
    assert.equal(await faultOf(bed.gateway.call(contracts.startCode, {}, as(person))), "no_migration");
    assert.equal(await faultOf(verify(person, "123456")), "no_migration");
    assert.equal(await faultOf(issue(person, "somebody")), "no_migration");
  });

  test("an account without a verified address has nothing to prove itself with", async () => {
    const source = await player({ emailVerified: false });
    await open(source.mcUuid);
    assert.equal(await faultOf(bed.gateway.call(contracts.startCode, {}, as(source))), "no_step_up_factor");
  });

  test("a second mail within a minute is refused, and so is a mail once it is confirmed", async () => {
    const source = await player();
    await open(source.mcUuid);
    const code = await mailCode(source);
    const again = () => bed.gateway.call(contracts.startCode, {}, as(source));
    assert.equal(await faultOf(again()), "otp_resend_cooldown");
    await verify(source, code);
    assert.equal(await faultOf(again()), "already_confirmed");
    assert.equal(await faultOf(verify(source, code)), "already_confirmed");
  });

  test("wrong codes count: the fifth kills the code, and ten lock the account's codes", async () => {
    const source = await player();
    await open(source.mcUuid);
    const first = await mailCode(source);
    const wrong = first === "000000" ? "000001" : "000000";
    for (let index = 0; index < 5; index++)
      assert.equal(await faultOf(verify(source, wrong)), "invalid_code");
    assert.equal(await faultOf(verify(source, first)), "otp_locked");
    bed.pass(minute);
    await mailCode(source);
    const spare = bed.smtp.codeTo(source.email) === "000000" ? "000001" : "000000";
    for (let index = 0; index < 5; index++)
      assert.equal(await faultOf(verify(source, spare)), "invalid_code");
    assert.equal(await faultOf(verify(source, bed.smtp.codeTo(source.email))), "otp_account_locked");
    assert.equal((await read(source)).state, "initiated");
  });

  test("a proof counts ten minutes and only in the session that gave it", async () => {
    const source = await confirmed();
    const target = await bed.person();
    const other = await bed.session(source.userId);
    const elsewhere = { ...source, principal: { ...source.principal, session: other.hash } };
    assert.deepEqual(await read(elsewhere), { active: true, state: "initiated" });
    assert.equal(await faultOf(issue(elsewhere, target.userId)), "not_confirmed");
    bed.pass(10 * minute);
    assert.deepEqual(await read(source), { active: true, state: "initiated" });
    assert.equal(await faultOf(issue(source, target.userId)), "not_confirmed");
    await verify(source, await mailCode(source));
    await issue(source, target.userId);
  });

  test("a code that ran out reads as initiated, and everything can be done again", async () => {
    const { source, target, code } = await ready(name());
    bed.pass(10 * minute);
    assert.deepEqual(await read(source), { active: true, state: "initiated" });
    assert.equal(await faultOf(redeem(target, code)), "invalid_code");
    await verify(source, await mailCode(source));
    const fresh = await issue(source, target.userId);
    assert.equal((await redeem(target, fresh.code)).servers_moved, 1);
  });

  test("a target is somebody else, known and live", async () => {
    const source = await confirmed();
    const gone = await bed.person();
    await bed.database.admin("update identity.users set disabled = true where id = $1", [gone.userId]);
    assert.equal(await faultOf(issue(source, source.userId)), "invalid_target");
    assert.equal(await faultOf(issue(source, "nobody")), "target_not_found");
    assert.equal(await faultOf(issue(source, gone.userId)), "target_unavailable");
    const target = await bed.person();
    await issue(source, target.userId);
    assert.equal(await faultOf(issue(source, target.userId)), "not_confirmed");
  });

  test("nobody but the named target redeems, and their tries change nothing", async () => {
    const { source, target, code } = await ready(name());
    const stranger = await bed.person();
    assert.equal(await faultOf(redeem(stranger, code)), "invalid_code");
    assert.equal(await faultOf(redeem(source, code)), "invalid_code");
    assert.equal(await faultOf(redeem(target, "AAAAAAAA")), "invalid_code");
    assert.equal(await faultOf(redeem(target, " ")), "bad_request");
    assert.equal(lifecycle.calls, 0);
    assert.equal((await redeem(target, code)).servers_moved, 1);
  });

  test("ten parallel redeems have one winner, and the losers get invalid_code", async () => {
    const { source, target, code } = await ready(name(), name());
    const answers = await Promise.all(Array.from({ length: 10 }, () => faultOf(redeem(target, code))));
    assert.deepEqual(answers.sort(), [...Array.from({ length: 9 }, () => "invalid_code"), "none"]);
    assert.equal(lifecycle.calls, 1);
    assert.deepEqual(await account(source.userId), retired);
  });

  test("a target without quota gets nothing, and the code works once there is room", async () => {
    const { source, target, code } = await ready(name(), name());
    const limit = async (most: number | null) => {
      await bed.database.admin(
        `insert into identity.quotas (user_id, max_servers) values ($1, $2)
         on conflict (user_id) do update set max_servers = excluded.max_servers`,
        [target.userId, most],
      );
    };
    await limit(1);
    assert.equal(await faultOf(redeem(target, code)), "migrate_quota_exceeded");
    assert.equal(await faultOf(redeem(target, code)), "migrate_quota_exceeded");
    assert.equal(lifecycle.ownedBy(source.userId).length, 2);
    assert.deepEqual(await account(source.userId), live);
    assert.equal((await read(source)).state, "code_issued");
    await limit(2);
    assert.equal((await redeem(target, code)).servers_moved, 2);
  });

  test("a source that was closed meanwhile gives nothing away", async () => {
    const { source, target, code } = await ready(name());
    await bed.database.admin("update identity.users set disabled = true where id = $1", [source.userId]);
    assert.equal(await faultOf(redeem(target, code)), "invalid_code");
    assert.equal(lifecycle.ownedBy(source.userId).length, 1);
  });

  test("lifecycle away is unavailable; what it did by then stands, and the same code gets the same answer", async () => {
    const world = name();
    const { source, target, code } = await ready(world);
    lifecycle.after = async () => {
      throw new Fault("unavailable");
    };
    assert.equal(await faultOf(redeem(target, code)), "unavailable");
    assert.equal((await read(source)).state, "code_issued");
    assert.equal(await faultOf(open(source.mcUuid)), "account_is_retired");
    lifecycle.after = async () => {};
    await until(async () => (await rowOf(source.userId))?.["state"] === "redeemed");
    assert.deepEqual(await account(source.userId), retired);
    const answer = await redeem(target, code);
    assert.deepEqual(answer, { migrated: true, servers_moved: 1, servers: [world] });
    assert.equal(await faultOf(redeem(target, code)), "invalid_code");
  });

  /** What a process leaves that dies right after it took the code. */
  const dieAfterTaking = async (sourceId: string) => {
    await bed.database.admin(
      `update identity.account_migrations set state = 'redeeming', leased_until = $2
       where source_user_id = $1`,
      [sourceId, new Date(bed.now().getTime() + 30_000)],
    );
  };

  test("killed after the code was taken: the lease protects it, then it is carried on by whoever looks", async () => {
    const { source, target, code } = await ready(name());
    await dieAfterTaking(source.userId);
    assert.equal(await faultOf(redeem(target, code)), "invalid_code");
    assert.equal(lifecycle.calls, 0);
    bed.pass(30_000);
    await until(async () => (await rowOf(source.userId))?.["state"] === "redeemed");
    assert.equal((await redeem(target, code)).servers_moved, 1);
    assert.deepEqual(await account(source.userId), retired);
  });

  test("killed after the servers were moved: nothing is moved twice, and the answer is the first one", async () => {
    const world = name();
    const { source, target, code } = await ready(world);
    const row = await rowOf(source.userId);
    lifecycle.move({
      transfer_id: String(row?.["id"]),
      from_user_id: source.userId,
      to_user_id: target.userId,
      limits: { max_servers: null, max_cpu_milli: null, max_memory_mb: null, max_storage_gb: null },
    });
    await dieAfterTaking(source.userId);
    bed.pass(30_000);
    await until(async () => (await rowOf(source.userId))?.["state"] === "redeemed");
    assert.deepEqual((await redeem(target, code)).servers, [world]);
  });

  test("killed before the target's quota was asked: the loop gives the code back and nothing is moved", async () => {
    const { source, target, code } = await ready(name());
    await bed.database.admin("insert into identity.quotas (user_id, max_servers) values ($1, 0)", [
      target.userId,
    ]);
    await dieAfterTaking(source.userId);
    bed.pass(30_000);
    await until(async () => (await rowOf(source.userId))?.["state"] === "code_issued");
    assert.deepEqual(await account(source.userId), live);
    assert.equal(await faultOf(redeem(target, code)), "migrate_quota_exceeded");
    assert.equal(lifecycle.ownedBy(source.userId).length, 1);
  });

  test("the database gone after the move: the servers are the target's, and the source is retired later", async () => {
    const world = name();
    const { source, target, code } = await ready(world);
    lifecycle.after = () => bed.wire.cut();
    assert.equal(await faultOf(redeem(target, code)), "unavailable");
    assert.deepEqual(lifecycle.ownedBy(target.userId), [world]);
    lifecycle.after = async () => {};
    await bed.wire.mend();
    bed.pass(30_000);
    await until(async () => (await rowOf(source.userId))?.["state"] === "redeemed");
    assert.deepEqual((await redeem(target, code)).servers, [world]);
    assert.deepEqual(await account(source.userId), retired);
  });

  test("while its servers are moved the source may own nothing new, and what it took is released after", async () => {
    const { source, target, code } = await ready(name());
    const stray = name();
    let active: boolean | undefined;
    lifecycle.after = async () => {
      active = (await bed.lifecycle.call(quotas.readLimits, { user_id: source.userId })).active;
      lifecycle.own(source.userId, stray);
    };
    await redeem(target, code);
    assert.equal(active, false);
    await until(() => released.includes(source.userId));
    assert.deepEqual(lifecycle.ownedBy(source.userId), []);
    assert.equal(lifecycle.ownedBy(target.userId).length, 1);
  });

  test("two accounts that hand over to each other at once: one is retired, and all servers have a live owner", async () => {
    for (let round = 0; round < 5; round++) {
      const [one, other] = [await confirmed(name()), await confirmed(name())];
      const [toOther, toOne] = [await issue(one, other.userId), await issue(other, one.userId)];
      const answers = await Promise.all([
        faultOf(redeem(other, toOther.code)),
        faultOf(redeem(one, toOne.code)),
      ]);
      assert.equal(answers.filter((answer) => answer === "none").length, 1);
      const refusals = ["unavailable", "invalid_code", "unauthorized"];
      assert.ok(answers.some((answer) => refusals.includes(answer)));
      const owner = answers[0] === "none" ? other : one;
      assert.deepEqual(await account(owner.userId), live);
      assert.equal(lifecycle.ownedBy(owner.userId).length, 2);
    }
  });

  test("an account that is getting servers does not give its own away meanwhile", async () => {
    const { source, target, code } = await ready(name());
    const third = await bed.person();
    const email = `middle-${randomUUID().slice(0, 8)}@example.org`;
    const sql = "update identity.users set email = $2, email_verified = true where id = $1";
    await bed.database.admin(sql, [target.userId, email]);
    const mcUuid = randomUUID();
    await bed.store.db
      .transaction()
      .execute((trx) =>
        linkPlayer(trx, { userId: target.userId, mcUuid, authSource: "mojang", now: bed.now() }),
      );
    await open(mcUuid);
    await verify(target, await mailCode({ ...target, email }));
    const onward = await issue(target, third.userId);
    let meanwhile = "";
    lifecycle.before = async () => {
      lifecycle.before = async () => {};
      meanwhile = await faultOf(redeem(third, onward.code));
    };
    await redeem(target, code);
    assert.equal(meanwhile, "unavailable");
    assert.equal((await redeem(third, onward.code)).servers_moved, 1);
    assert.deepEqual(await account(source.userId), retired);
  });

  test("links and ways in do not move", async () => {
    const { source, target, code } = await ready();
    await redeem(target, code);
    const links = await bed.database.admin("select mc_uuid from identity.account_links where user_id = $1", [
      source.userId,
    ]);
    assert.deepEqual(links, [{ mc_uuid: source.mcUuid }]);
  });

  test("every step leaves an audit entry, and results are counted", async () => {
    const { target, code } = await ready(name());
    const before = await bed.metric('svc_account_migrations_total{result="redeemed"}');
    await redeem(target, code);
    assert.equal(await bed.metric('svc_account_migrations_total{result="redeemed"}'), before + 1);
    const actions = async () => {
      const rows = await bed.database.admin("select distinct action from identity.audit_logs");
      return rows.map((row) => row["action"]);
    };
    const wanted = ["start", "confirm", "issue_code", "redeem"].map((step) => `account.migrate.${step}`);
    await until(async () => {
      const found = await actions();
      return wanted.every((action) => found.includes(action));
    });
  });
});
