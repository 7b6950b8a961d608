// Many replicas, some of them killed: nothing runs twice, no server stays stopped, no run stays unfinished.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { isWhole, many } from "@svc/config/testing";
import { until } from "@svc/mesh/testing";
import { type KillPoint, killAtEachPoint } from "../testing/kill-point.ts";
import { withKillPoint } from "../testing/schedule/kill-points.ts";
import {
  minute,
  openScheduleFixture,
  running,
  type ScheduleFixture,
  type State,
  stopped,
} from "../testing/schedule/schedule-fixture.ts";
import type { ScheduleRow } from "./row.ts";
import { createScheduler, type Scheduler } from "./scheduler.ts";

let fixture: ScheduleFixture;
before(async () => {
  fixture = await openScheduleFixture();
});
after(() => fixture.close());

/** Sets the phase that the operator would derive from the desired state. */
async function settle(name: string): Promise<void> {
  const { spec, status } = await fixture.getServer(name);
  const wanted = spec.desiredState === "Running" ? running : stopped;
  if (status?.phase !== wanted.phase) await fixture.setState(name, wanted);
}

let made = 0;
async function due(action: ScheduleRow["action"], state: State) {
  made += 1;
  const name = `killed-${made}`;
  await fixture.makeServer(name, state);
  const command = action === "command" ? `say ${name}` : "";
  const id = await fixture.addTask(name, { action, command, next_run_at: new Date(fixture.clock.now) });
  return { name, id };
}

/** Ticks and plays the operator until a run has ended; the clock advances, so that an abandoned claim ends too. */
async function finishRun(heir: Scheduler, { name, id }: { name: string; id: number }): Promise<void> {
  for (let left = 12; left > 0; left--) {
    await settle(name);
    await heir.tick();
    if ((await fixture.read(id)).run_state === "" && (await fixture.reportedResults(id)).length > 0) return;
    fixture.clock.now += minute;
  }
  assert.fail(`the run of ${name} never ended: ${JSON.stringify(await fixture.read(id))}`);
}

type Case = { action: ScheduleRow["action"]; from: State; ends: State["desired"] };
const cases: [fact: string, about: Case][] = [
  ["a command", { action: "command", from: running, ends: "Running" }],
  ["a stop", { action: "stop", from: running, ends: "Stopped" }],
  ["a start", { action: "start", from: stopped, ends: "Running" }],
  ["a restart", { action: "restart", from: running, ends: "Running" }],
  ["a backup of a running server", { action: "backup", from: running, ends: "Running" }],
  ["a backup of a stopped server", { action: "backup", from: stopped, ends: "Stopped" }],
];

describe("a replica that is killed", () => {
  for (const [fact, { action, from, ends }] of cases) {
    test(`at any point of ${fact} leaves a run that another replica ends once, with the server in the right state`, async () => {
      const heir = fixture.replica();
      const seen = new Set<string>();
      const die = async (killPoint: KillPoint): Promise<boolean> => {
        const task = await due(action, from);
        const before = fixture.commands.length;
        const victim = withKillPoint(fixture.deps, killPoint);
        const first = createScheduler(victim.deps);
        let isOver = false;
        for (let left = 8; left > 0 && !victim.isKilled() && !isOver; left--) {
          let hasTicked = false;
          void first.tick().then(() => {
            hasTicked = true;
          });
          await until(() => hasTicked || victim.isKilled());
          await settle(task.name);
          const { run_state } = await fixture.read(task.id);
          isOver = run_state === "" && (await fixture.reportedResults(task.id)).length > 0;
        }
        const row = await fixture.read(task.id);
        if (victim.isKilled()) seen.add(row.run_state);
        if (!isOver) await finishRun(heir, task);
        const { last_result, last_detail } = await fixture.read(task.id);
        const about = `${action} killed ${killPoint.when} effect ${killPoint.at} (${victim.effects().join()}): ${last_detail}`;
        const isLost = last_detail === "svc was stopped in the middle of this run.";
        assert.ok(last_result === "ok" || (last_result === "failed" && isLost), about);
        assert.deepEqual(await fixture.reportedResults(task.id), [last_result], about);
        const audits = (await fixture.base.audits()).filter(
          ({ action, payload }) => action === "schedule.run" && payload["id"] === task.id,
        );
        assert.deepEqual(
          audits.map(({ payload }) => payload["result"]),
          [last_result],
          about,
        );
        assert.ok(fixture.commands.length - before <= 1, about);
        const { desiredState } = (await fixture.getServer(task.name)).spec;
        // A run left in its claim may or may not have acted; a server is never left stopped.
        const isFine = desiredState === ends || (isLost && desiredState === from.desired);
        assert.ok(isFine, `${about}; the server is ${desiredState}`);
        if (action === "backup") {
          const keys = [...fixture.storage.runs].filter((key) => key.startsWith(`schedule-${task.id}-`));
          assert.ok(keys.length <= 1, about);
          if (last_result === "ok") assert.equal(keys.length, 1, about);
        }
        await fixture.base.database.admin("delete from lifecycle.server_schedules where id = $1", [task.id]);
        return victim.isKilled();
      };
      const at = await killAtEachPoint(die);
      assert.ok(at >= 3, `only ${at} effects were seen`);
      const passed = { restart: ["claimed", "stopping", "starting"], backup: ["stopping", "backing_up"] };
      const states = action === "restart" || action === "backup" ? passed[action] : ["claimed"];
      for (const state of isWhole ? states : [])
        assert.ok(seen.has(state), `${state} was not among ${[...seen].join()}`);
    });
  }
});

test("two replicas that tick at the same time, again and again, never run a task twice", async () => {
  const [one, two] = [fixture.replica(), fixture.replica()];
  await fixture.makeServer("twins", running);
  const hourly = { every_minutes: 60, minute_of_day: 0, next_run_at: new Date(fixture.clock.now) };
  const commands: number[] = [];
  for (const word of ["a", "b"]) {
    commands.push(await fixture.addTask("twins", { ...hourly, action: "command", command: `say ${word}` }));
  }
  fixture.commands.length = 0;
  const rounds = many(200, 40);
  for (let round = 0; round < rounds; round++) {
    await Promise.all([one.tick(), two.tick(), one.tick()]);
    const rows = await Promise.all(commands.map((id) => fixture.read(id)));
    fixture.clock.now = rows[0]?.next_run_at?.getTime() ?? assert.fail("there is no next run");
  }
  assert.equal(fixture.commands.filter((line) => line === "say a").length, rounds);
  assert.equal(fixture.commands.filter((line) => line === "say b").length, rounds);
  for (const id of commands) assert.deepEqual(await fixture.reportedResults(id), Array(rounds).fill("ok"));
  await fixture.base.database.admin("delete from lifecycle.server_schedules where server_name = 'twins'");
});

test("three replicas restart a server again and again with one stop and one start each", async () => {
  const replicas = [fixture.replica(), fixture.replica(), fixture.replica()];
  const tickAll = () => Promise.all(replicas.map((replica) => replica.tick()));
  await fixture.makeServer("often", running);
  const hourly = { every_minutes: 60, minute_of_day: 0, next_run_at: new Date(fixture.clock.now) };
  const id = await fixture.addTask("often", { ...hourly, action: "restart" });
  const generation = async () => (await fixture.getServer("often")).metadata.generation ?? 0;
  const before = await generation();
  const rounds = many(50, 10);
  for (let round = 0; round < rounds; round++) {
    await tickAll();
    await settle("often");
    await tickAll();
    await settle("often");
    fixture.clock.now =
      (await fixture.read(id)).next_run_at?.getTime() ?? assert.fail("there is no next run");
  }
  assert.deepEqual(await fixture.reportedResults(id), Array(rounds).fill("ok"));
  await fixture.base.database.admin("delete from lifecycle.server_schedules where server_name = 'often'");
  // The generation counts changes of the spec; this test's operator writes the unchanged spec.
  assert.equal((await generation()) - before, 2 * rounds);
});

test("a slow replica does not stop a server that was stopped for the run and has been started by someone since", async () => {
  const quick = fixture.replica();
  const { name, id } = await due("restart", running);
  const dies = withKillPoint(fixture.deps, { at: 2, when: "after" });
  void createScheduler(dies.deps).tick();
  await until(() => dies.isKilled());
  assert.equal((await fixture.read(id)).run_state, "stopping");
  let isFirst = true;
  const find: typeof fixture.deps.kube.find = async (kind, target, about) => {
    const seen = await fixture.deps.kube.find(kind, target, about);
    if (!isFirst) return seen;
    isFirst = false;
    await quick.tick();
    assert.equal((await fixture.getServer(name)).spec.desiredState, "Stopped");
    await fixture.setState(name, running);
    return seen;
  };
  await fixture.replica((deps) => ({ ...deps, kube: { ...deps.kube, find } })).tick();
  assert.equal(isFirst, false);
  assert.equal((await fixture.getServer(name)).spec.desiredState, "Running");
  assert.equal((await fixture.read(id)).last_detail, "Someone started the server.");
});
