// Chains on a real database, a real cluster API and a real RCON port, with a clock that the test moves.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, describe, test } from "node:test";
import type { schedules } from "@svc/proto";
import { servers } from "../cluster/resource.ts";
import {
  minute,
  openScheduleFixture,
  running,
  type ScheduleFixture,
  stopped,
} from "../testing/schedule/schedule-fixture.ts";
import type { Step } from "./chain.ts";
import type { ScheduleRow } from "./row.ts";
import type { Scheduler } from "./scheduler.ts";

let fixture: ScheduleFixture;
let one: Scheduler;
before(async () => {
  fixture = await openScheduleFixture(["lifecycle.max_running_servers=50"]);
  one = fixture.replica();
});
after(() => fixture.close());

const fresh = () => `srv-${randomBytes(4).toString("hex")}`;
const later = (minutes: number) => {
  fixture.clock.now += minutes * minute;
};
const step = (action: Step["action"], more: Partial<Step> = {}): Step => ({
  ...{ action, command: "", wait_seconds: 0 },
  ...more,
});
const say = (text: string, more: Partial<Step> = {}) => step("command", { command: `say ${text}`, ...more });

/** A server with a chain that is due now. */
async function due(steps: readonly Step[], state = running, about: Partial<ScheduleRow> = {}) {
  const [first = step("stop"), ...next_steps] = steps;
  const name = fresh();
  await fixture.makeServer(name, state);
  const { action, command, only_if = "" } = first;
  const id = await fixture.addTask(name, {
    ...{ action, command, only_if, next_steps, next_run_at: new Date(fixture.clock.now) },
    ...about,
  });
  return { name, id };
}

const said = (text: string) => fixture.commands.filter((line) => line === `say ${text}`).length;
const results = async (id: number) => (await fixture.read(id)).step_endings.map(({ result }) => result);
const stateOf = async (id: number) => {
  const { run_state, run_waits, run_step, last_result } = await fixture.read(id);
  return [run_waits ? `${run_state}, waiting` : run_state, run_step, last_result];
};
const codeOf = async (id: number) => {
  const { last_code, chain_code } = await fixture.read(id);
  return last_code || chain_code;
};
const desired = async (name: string) => (await fixture.getServer(name)).spec.desiredState;

describe("a chain", () => {
  test("does all its steps in one tick when none waits, and reports once", async () => {
    const [a, b] = [fresh(), fresh()];
    const { name, id } = await due([say(a), say(b), step("stop")]);
    await one.tick();
    assert.deepEqual([said(a), said(b), await desired(name)], [1, 1, "Stopped"]);
    assert.deepEqual(await stateOf(id), ["", 0, "ok"]);
    assert.deepEqual(await results(id), ["ok", "ok", "ok"]);
    assert.deepEqual(await fixture.reportedResults(id), ["ok"]);
    const entries = (await fixture.base.audits()).filter((entry) => entry.payload["id"] === id);
    assert.deepEqual(
      entries.map(({ action, payload }) => [action, payload["result"], payload["steps"]]),
      [["schedule.run", "ok", ["ok", "ok", "ok"]]],
    );
  });

  test("of ten commands is done in one tick", async () => {
    const texts = Array.from({ length: 10 }, fresh);
    const { id } = await due(texts.map((text) => say(text)));
    await one.tick();
    assert.deepEqual(texts.map(said), Array(10).fill(1));
    assert.deepEqual(await stateOf(id), ["", 0, "ok"]);
  });

  test("backs up, waits, and says so only because the backup succeeded", async () => {
    const text = fresh();
    const { name, id } = await due([
      step("backup"),
      say(text, { wait_seconds: 120, only_if: "previous_succeeded" }),
      say("never", { only_if: "previous_failed" }),
    ]);
    await one.tick();
    await fixture.setState(name, stopped);
    await one.tick();
    assert.deepEqual(await stateOf(id), ["claimed, waiting", 1, ""]);
    await fixture.setState(name, running);
    later(1.9);
    await one.tick();
    assert.deepEqual([said(text), ...(await stateOf(id))], [0, "claimed, waiting", 1, ""]);
    later(0.1);
    await one.tick();
    assert.deepEqual([said(text), ...(await stateOf(id))], [1, "", 0, "ok"]);
    assert.deepEqual(await results(id), ["ok", "ok", "skipped"]);
    assert.equal(said("never"), 0);
  });

  test("tells of a backup that failed, and stays failed", async () => {
    const [good, bad] = [fresh(), fresh()];
    const { name, id } = await due([
      step("backup"),
      say(good, { only_if: "previous_succeeded" }),
      step("start"),
      say(bad, { wait_seconds: 60 }),
    ]);
    Object.assign(fixture.storage, { state: "failed", message: "The disk is full." });
    await one.tick();
    await fixture.setState(name, stopped);
    await one.tick();
    Object.assign(fixture.storage, { state: "succeeded", message: undefined });
    await fixture.setState(name, running);
    await one.tick();
    later(1);
    await one.tick();
    const row = await fixture.read(id);
    assert.deepEqual(await results(id), ["failed", "skipped", "skipped", "ok"]);
    assert.deepEqual(
      [row.last_result, row.last_code, row.last_detail],
      ["failed", "backup_failed", "The disk is full."],
    );
    assert.deepEqual([said(good), said(bad)], [0, 1]);
    assert.deepEqual(await fixture.reportedResults(id), ["failed"]);
  });

  test("makes two backups with a Job each", async () => {
    const { id } = await due([step("backup"), step("backup")], stopped);
    await one.tick();
    assert.deepEqual(await results(id), ["ok", "ok"]);
    const keys = [...fixture.storage.runs].filter((key) => key.startsWith(`schedule-${id}-`));
    assert.equal(keys.length, 2);
  });

  test("restarts twice, with a stop and a start each", async () => {
    const { name, id } = await due([step("restart"), step("restart")]);
    for (let left = 2; left > 0; left--) {
      await one.tick();
      assert.equal(await desired(name), "Stopped");
      await fixture.setState(name, stopped);
    }
    await one.tick();
    assert.deepEqual([...(await stateOf(id)), await results(id)], ["", 0, "ok", ["ok", "ok"]]);
    assert.equal(await desired(name), "Running");
  });

  test("sends a command behind a restart once the server is ready", async () => {
    const text = fresh();
    const { name, id } = await due([step("restart"), say(text)]);
    await one.tick();
    await fixture.setState(name, stopped);
    await one.tick();
    assert.deepEqual(await stateOf(id), ["claimed, waiting", 1, ""]);
    later(5);
    await one.tick();
    assert.equal(said(text), 0);
    await fixture.setState(name, running);
    await one.tick();
    assert.deepEqual([said(text), ...(await stateOf(id))], [1, "", 0, "ok"]);
  });

  test("waits as long as it says while the clocks of its zone change", async () => {
    // 02:00 becomes 03:00 at 01:00 UTC, and 03:00 becomes 02:00 at 01:00 UTC.
    for (const change of ["2027-03-28T00:59:00.000Z", "2027-10-31T00:59:00.000Z"]) {
      const before = fixture.clock.now;
      fixture.clock.now = Date.parse(change);
      const text = fresh();
      const { id } = await due([say(fresh()), say(text, { wait_seconds: 600 })], running, {
        timezone: "Europe/Berlin",
      });
      await one.tick();
      later(9.9);
      await one.tick();
      assert.equal(said(text), 0, change);
      later(0.1);
      await one.tick();
      assert.deepEqual([said(text), ...(await stateOf(id))], [1, "", 0, "ok"], change);
      fixture.clock.now = before;
      await fixture.base.database.admin("delete from lifecycle.server_schedules where id = $1", [id]);
    }
  });

  test("that nobody could continue for too long is missed, and its last steps are not done", async () => {
    const text = fresh();
    const { id } = await due([say(fresh()), say(text, { wait_seconds: 60 })]);
    await one.tick();
    later(17);
    await one.tick();
    assert.deepEqual([said(text), ...(await stateOf(id))], [0, "", 0, "missed"]);
    assert.equal((await fixture.read(id)).chain_code, "step_late");
    assert.deepEqual(await fixture.reportedResults(id), ["missed"]);
  });
});

test("a run that was missed says nothing of how the steps of the one before ended", async () => {
  const { id } = await due([say(fresh()), say(fresh())]);
  await one.tick();
  assert.deepEqual(await results(id), ["ok", "ok"]);
  fixture.clock.now = ((await fixture.read(id)).next_run_at?.getTime() ?? 0) + 11 * minute;
  await one.tick();
  assert.deepEqual([await results(id), ...(await stateOf(id))], [[], "", 0, "missed"]);
});

describe("a chain that waits does nothing more", () => {
  const changes: [fact: string, change: string, code: schedules.RunCode | schedules.ChainCode][] = [
    [
      "for a former owner",
      "update lifecycle.servers set owner_id = 'usr-2' where name = $1",
      "owner_changed",
    ],
    ["for nobody", "update lifecycle.servers set owner_id = null where name = $1", "owner_changed"],
    [
      "on a deleted server",
      "update lifecycle.servers set deleted_at = now() where name = $1",
      "server_deleted",
    ],
    [
      "for somebody who has no access any more",
      "update lifecycle.server_schedules set run_revoked = true where server_name = $1",
      "run_cancelled",
    ],
  ];
  for (const [fact, change, code] of changes) {
    test(fact, async () => {
      const text = fresh();
      const { name, id } = await due([say(fresh()), say(text, { wait_seconds: 60 })]);
      await one.tick();
      await fixture.base.database.admin(change, [name]);
      later(1);
      await one.tick();
      const row = await fixture.read(id);
      assert.deepEqual(
        [said(text), row.run_state, row.last_result, row.last_code || row.chain_code],
        [0, "", "skipped", code],
      );
    });

    test(`${fact}, although it was found before`, async () => {
      const text = fresh();
      const { name, id } = await due([say(fresh()), say(text, { wait_seconds: 60 })]);
      await one.tick();
      later(1);
      const beginStep: typeof fixture.deps.schedules.beginStep = async (...args) => {
        await fixture.base.database.admin(change, [name]);
        return fixture.deps.schedules.beginStep(...args);
      };
      await fixture.replica((deps) => ({ ...deps, schedules: { ...deps.schedules, beginStep } })).tick();
      assert.deepEqual([said(text), (await fixture.read(id)).run_waits], [0, true]);
      await one.tick();
      assert.deepEqual([said(text), await codeOf(id)], [0, code]);
    });
  }
});

describe("a task with a condition", () => {
  const playedAt = (name: string, at: number) =>
    fixture.base.database.admin("update lifecycle.servers set last_active_at = $2 where name = $1", [
      name,
      new Date(at),
    ]);

  test("backs up only what somebody has played on since the last backup that went well", async () => {
    const backup = step("backup", { only_if: "played_since_success" });
    const { name, id } = await due([backup], stopped, {
      ...{ every_minutes: 60, minute_of_day: 0 },
      created_at: new Date(fixture.clock.now - 60 * minute),
    });
    const run = async () => {
      fixture.clock.now = (await fixture.read(id)).next_run_at?.getTime() ?? assert.fail("it is never due");
      await one.tick();
      return (await fixture.read(id)).last_result;
    };
    await playedAt(name, fixture.clock.now - minute);
    assert.equal(await run(), "ok");
    assert.equal(await run(), "skipped");
    assert.equal((await fixture.read(id)).chain_code, "condition_not_met");
    await playedAt(name, fixture.clock.now + minute);
    Object.assign(fixture.storage, { state: "failed", message: "The disk is full." });
    assert.equal(await run(), "failed");
    Object.assign(fixture.storage, { state: "succeeded", message: undefined });
    // Nobody came since, but there is no backup of those who did.
    assert.equal(await run(), "ok");
    assert.equal(await run(), "skipped");
  });

  test("restarts only an empty server", async () => {
    const { name, id } = await due([step("restart", { only_if: "empty" })]);
    const merge = { status: { players: { online: 1, max: 20 } } };
    const target = { name, namespace: "minecraft" };
    await fixture.base.kube.patch(servers, target, { merge, subresource: "status" });
    await one.tick();
    assert.deepEqual(
      [await desired(name), (await fixture.read(id)).chain_code],
      ["Running", "condition_not_met"],
    );
  });
});
