// Tasks that run when something happens, on a real database and a real cluster API, with a clock that the test moves.

import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import type { schedules } from "@svc/proto";
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

const sql = (text: string, values: unknown[] = []) => fixture.base.database.admin(text, values);
const later = (minutes: number) => {
  fixture.clock.now += minutes * minute;
};
const busy = { ...running, online: 2 };

type About = Partial<ScheduleRow> & { trigger: schedules.ScheduleTrigger };

/** A server with a task that says something of its own, or does something else. */
async function waiting(about: About, state = running) {
  const name = `srv-${randomBytes(4).toString("hex")}`;
  await fixture.makeServer(name, state);
  return { name, id: await addTask(name, about) };
}
const addTask = (name: string, about: About) =>
  fixture.addTask(name, { action: "command", command: `say ${name}`, pause_minutes: 5, ...about });

const said = (name: string) => fixture.commands.filter((line) => line === `say ${name}`).length;
const outcomes = async (id: number) => {
  const rows = await sql(
    "select outcome from lifecycle.trigger_events where schedule_id = $1 order by happened_at, event",
    [id],
  );
  return rows.map(({ outcome }) => outcome);
};
const endOf = async (id: number) => {
  const { run_state, last_result, chain_code, last_trigger } = await fixture.read(id);
  return [run_state, last_result, chain_code, last_trigger?.trigger];
};
const crash = async (name: string, at = fixture.clock.now) => {
  const id = randomUUID();
  await sql(
    `insert into lifecycle.server_crashes (id, server_name, run, at, cause, ran_seconds, was_running, lines)
     values ($1::uuid, $2, $1::uuid::text, $3, 'memory_limit', 60, true, '{}')`,
    [id, name, new Date(at)],
  );
  return id;
};
const phase = (name: string, to: string, isWake = false) =>
  sql("insert into lifecycle.server_phases (server_name, at, phase, is_wake) values ($1, $2, $3, $4)", [
    name,
    new Date(fixture.clock.now),
    to,
    isWake,
  ]);
const desired = async (name: string) => (await fixture.getServer(name)).spec.desiredState;

describe("the first player", () => {
  test("runs the task once, and again when the server was empty in between and the pause is over", async () => {
    const { name, id } = await waiting({ trigger: "first_player_joined" });
    await one.tick();
    await fixture.setState(name, busy);
    for (let left = 3; left > 0; left--) await one.tick();
    assert.deepEqual([said(name), await outcomes(id)], [1, ["ran"]]);
    assert.deepEqual(await endOf(id), ["", "ok", "", "first_player_joined"]);
    for (const online of [0, 1, 0]) {
      later(1);
      await fixture.setState(name, { ...running, online });
      await one.tick();
    }
    assert.deepEqual([said(name), await outcomes(id)], [1, ["ran", "paused"]]);
    later(5);
    await fixture.setState(name, busy);
    await one.tick();
    assert.deepEqual([said(name), await outcomes(id)], [2, ["ran", "paused", "ran"]]);
    assert.deepEqual(await fixture.reportedResults(id), ["ok", "ok"]);
  });

  test("wakes no one: who was there before the task is not the first", async () => {
    const { name, id } = await waiting({ trigger: "first_player_joined" }, busy);
    await one.tick();
    await one.tick();
    assert.deepEqual([said(name), await outcomes(id)], [0, []]);
  });

  test("is not seen while nobody can be counted", async () => {
    const { name, id } = await waiting({ trigger: "first_player_joined" });
    await one.tick();
    await fixture.setState(name, { desired: "Running", phase: "Failed" });
    await one.tick();
    await fixture.setState(name, running);
    await one.tick();
    assert.deepEqual(await outcomes(id), []);
  });

  test("who came while svc was down is missed, and said to be", async () => {
    const { name, id } = await waiting({ trigger: "first_player_joined" });
    await one.tick();
    later(30);
    await fixture.setState(name, busy);
    await one.tick();
    assert.deepEqual([said(name), await outcomes(id)], [0, ["missed"]]);
    assert.deepEqual(await endOf(id), ["", "missed", "event_late", "first_player_joined"]);
    assert.deepEqual(await fixture.reportedResults(id), ["missed"]);
  });
});

describe("an empty server", () => {
  test("runs the task when it has been empty for as long as it says", async () => {
    const { name, id } = await waiting(
      { trigger: "server_empty", trigger_minutes: 10, action: "stop" },
      busy,
    );
    await one.tick();
    await fixture.setState(name, running);
    await one.tick();
    assert.deepEqual(await outcomes(id), ["waiting"]);
    later(9.9);
    await one.tick();
    assert.equal(await desired(name), "Running");
    later(0.1);
    await one.tick();
    assert.deepEqual([await desired(name), await outcomes(id)], ["Stopped", ["ran"]]);
  });

  test("is waited for no longer when somebody joins", async () => {
    const { name, id } = await waiting({ trigger: "server_empty", trigger_minutes: 10 }, busy);
    await one.tick();
    await fixture.setState(name, running);
    await one.tick();
    later(9);
    await fixture.setState(name, busy);
    await one.tick();
    assert.deepEqual(await outcomes(id), ["cancelled"]);
    await fixture.setState(name, running);
    later(5);
    await one.tick();
    assert.deepEqual([said(name), await outcomes(id)], [0, ["cancelled", "waiting"]]);
  });

  test("is empty as well when it was stopped with players on it", async () => {
    const { name, id } = await waiting({ trigger: "server_empty", trigger_minutes: 0 }, busy);
    await one.tick();
    await fixture.setState(name, stopped);
    await one.tick();
    // A command is for a server that runs, as by the clock.
    assert.deepEqual([said(name), await outcomes(id)], [0, ["ran"]]);
    assert.equal((await fixture.read(id)).last_code, "server_not_running");
  });

  test("whose task is saved meanwhile is not waited for", async () => {
    const { name, id } = await waiting({ trigger: "server_empty", trigger_minutes: 1 }, busy);
    await one.tick();
    await fixture.setState(name, running);
    await one.tick();
    later(0.5);
    await sql("update lifecycle.server_schedules set updated_at = $2 where id = $1", [
      id,
      new Date(fixture.clock.now),
    ]);
    later(1);
    await one.tick();
    assert.deepEqual([said(name), await outcomes(id)], [0, ["cancelled"]]);
  });
});

describe("a crash", () => {
  test("runs the task once, and says which", async () => {
    const { name, id } = await waiting({ trigger: "server_crashed" });
    await crash(name, fixture.clock.now - minute);
    later(0.1);
    const report = await crash(name);
    for (let left = 3; left > 0; left--) await one.tick();
    assert.deepEqual([said(name), await outcomes(id)], [1, ["ran"]]);
    const { last_trigger } = await fixture.read(id);
    assert.deepEqual([last_trigger?.event, last_trigger?.about], [`crash-${report}`, "memory_limit"]);
    const [entry] = (await fixture.base.audits()).filter(({ payload }) => payload["id"] === id);
    assert.deepEqual(
      [entry?.payload["trigger"], entry?.payload["about"], entry?.payload["happened_at"]],
      ["server_crashed", "memory_limit", last_trigger?.at],
    );
  });

  test("too long ago is missed, and one of yesterday is not told of", async () => {
    const { name, id } = await waiting({
      trigger: "server_crashed",
      updated_at: new Date(fixture.clock.now - 3 * 24 * 60 * minute),
    });
    await crash(name, fixture.clock.now - 11 * minute);
    await crash(name, fixture.clock.now - 25 * 60 * minute);
    await one.tick();
    assert.deepEqual([said(name), await outcomes(id)], [0, ["missed"]]);
    assert.deepEqual(await endOf(id), ["", "missed", "event_late", "server_crashed"]);
  });

  test("starts a stopped server, and not again when it crashes from that", async () => {
    const { name, id } = await waiting({ trigger: "server_crashed", action: "start" }, stopped);
    later(0.1);
    await crash(name);
    await one.tick();
    assert.deepEqual([await desired(name), await outcomes(id)], ["Running", ["ran"]]);
    later(8);
    await crash(name);
    await one.tick();
    assert.deepEqual(await outcomes(id), ["ran", "caused_by_itself"]);
    later(30);
    await crash(name);
    await one.tick();
    assert.deepEqual(await outcomes(id), ["ran", "caused_by_itself", "ran"]);
  });

  test("runs a chain, with its waits and conditions", async () => {
    const next_steps: Step[] = [
      { action: "command", command: "say quiet", wait_seconds: 60, only_if: "empty" },
      { action: "stop", command: "", wait_seconds: 0, only_if: "previous_succeeded" },
    ];
    const { name, id } = await waiting({ trigger: "server_crashed", next_steps });
    later(0.1);
    await crash(name);
    await one.tick();
    // Another one while it waits between two steps.
    later(0.5);
    await crash(name);
    await one.tick();
    later(0.5);
    await one.tick();
    assert.deepEqual(
      (await fixture.read(id)).step_endings.map(({ result }) => result),
      ["ok", "ok", "ok"],
    );
    assert.equal(await desired(name), "Stopped");
    await one.tick();
    // A command may well crash a server.
    assert.deepEqual([said(name), await outcomes(id)], [1, ["ran", "caused_by_itself"]]);
  });

  test("while svc cannot reach the cluster is worked on when it can", async () => {
    const { name, id } = await waiting({ trigger: "server_crashed" });
    later(0.1);
    await crash(name);
    const away = fixture.replica((deps) => ({
      ...deps,
      kube: { ...deps.kube, find: () => Promise.reject(new Error("refused")) },
    }));
    await away.tick();
    assert.deepEqual(await outcomes(id), ["waiting"]);
    later(1);
    await one.tick();
    assert.deepEqual([said(name), await outcomes(id)], [1, ["ran"]]);
  });
});

describe("a start", () => {
  test("runs the task once players can join, and a lost connection is none", async () => {
    const { name, id } = await waiting({ trigger: "server_started" });
    for (const [to, isWake] of [
      ["Stopped", false],
      ["Starting", true],
    ] as const) {
      later(0.1);
      await phase(name, to, isWake);
      await one.tick();
    }
    assert.deepEqual(await outcomes(id), []);
    later(0.1);
    await phase(name, "Running");
    await one.tick();
    assert.deepEqual([said(name), await outcomes(id)], [1, ["ran"]]);
    for (const to of ["Starting", "Running"]) {
      later(10);
      await phase(name, to);
      await one.tick();
    }
    assert.deepEqual(await outcomes(id), ["ran"]);
    for (const to of ["Starting", "Failed", "Starting", "Running"]) {
      later(1);
      await phase(name, to);
    }
    await one.tick();
    assert.deepEqual([said(name), await outcomes(id)], [2, ["ran", "ran"]]);
  });

  test("that tasks bring about goes round once at most", async () => {
    const { name, id: first } = await waiting({
      trigger: "server_started",
      action: "restart",
      pause_minutes: 1,
    });
    const second = await addTask(name, { trigger: "server_started", action: "restart", pause_minutes: 1 });
    for (let round = 0; round < 5; round++) {
      await phase(name, "Stopped");
      later(0.5);
      await phase(name, "Running");
      later(1);
      await fixture.setState(name, running);
      await one.tick();
      await fixture.setState(name, stopped);
      await one.tick();
      later(0.5);
    }
    const [a, b] = [await outcomes(first), await outcomes(second)];
    assert.deepEqual(
      [a.filter((outcome) => outcome === "ran").length, b.filter((outcome) => outcome === "ran").length],
      [1, 1],
    );
    assert.deepEqual([a.at(-1), b.at(-1)], ["caused_by_itself", "caused_by_itself"]);
  });
});

describe("a task with a trigger", () => {
  test("never runs by the clock", async () => {
    const { name, id } = await waiting({ trigger: "backup_failed" });
    const before = fixture.clock.now;
    later(366 * 24 * 60);
    await one.tick();
    fixture.clock.now = before;
    assert.deepEqual([said(name), await outcomes(id)], [0, []]);
  });

  test("of a former owner is switched off", async () => {
    const { name, id } = await waiting({ trigger: "server_crashed" });
    await sql("update lifecycle.servers set owner_id = 'usr-2' where name = $1", [name]);
    later(0.1);
    await crash(name);
    await one.tick();
    const { enabled, last_code } = await fixture.read(id);
    assert.deepEqual([said(name), enabled, last_code], [0, false, "owner_changed"]);
    assert.deepEqual(await outcomes(id), ["cancelled"]);
  });

  test("is never due for a release that knows no triggers, nor saved by it as one of the clock", async () => {
    const { name, id } = await waiting({ trigger: "server_crashed" });
    // What its look for work, its switch and its editor do.
    const due = await sql(
      "select id from lifecycle.server_schedules where id = $1 and next_run_at <= now() + interval '100 years'",
      [id],
    );
    assert.deepEqual(due, []);
    const save = (enabled: boolean) =>
      sql(
        "update lifecycle.server_schedules set enabled = $2, next_run_at = $3, updated_at = $4 where id = $1",
        [id, enabled, enabled ? new Date(fixture.clock.now) : null, new Date(fixture.clock.now + 1)],
      );
    await assert.rejects(save(true), /server_schedules_no_time/);
    await save(false);
    later(0.1);
    await crash(name);
    await one.tick();
    assert.deepEqual([said(name), await outcomes(id)], [0, []]);
  });

  test("forgets what happened after eight days, and nothing that waits", async () => {
    const { id } = await waiting({ trigger: "backup_failed" });
    const add = (event: string, days: number, outcome: string) =>
      sql(
        `insert into lifecycle.trigger_events (schedule_id, event, trigger, happened_at, due_at, outcome)
         values ($1, $2, 'backup_failed', $3, $4, $5)`,
        [
          ...[id, event, new Date(fixture.clock.now - days * 24 * 60 * minute)],
          ...[new Date(fixture.clock.now + 60 * minute), outcome],
        ],
      );
    await add("backup-old", 9, "ran");
    await add("backup-waits", 9, "waiting");
    await add("backup-new", 7, "ran");
    await fixture.replica().tick();
    const left = await sql(
      "select event from lifecycle.trigger_events where schedule_id = $1 order by event",
      [id],
    );
    assert.deepEqual(
      left.map(({ event }) => event),
      ["backup-new", "backup-waits"],
    );
  });
});
