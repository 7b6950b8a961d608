// Many replicas, and replicas that die: nothing fires twice, nothing is left stopped, nothing is left unfinished.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { isWhole, many } from "@svc/config/testing";
import { until } from "@svc/mesh/testing";
import { type KillPoint, withKillPoint } from "../testing/schedule/kill-points.ts";
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

let bed: ScheduleFixture;
before(async () => {
  bed = await openScheduleFixture();
});
after(() => bed.close());

/** What the operator makes of the desired state. */
async function settle(name: string): Promise<void> {
  const { spec, status } = await bed.getServer(name);
  const wanted = spec.desiredState === "Running" ? running : stopped;
  if (status?.phase !== wanted.phase) await bed.setState(name, wanted);
}

let made = 0;
async function due(action: ScheduleRow["action"], state: State) {
  made += 1;
  const name = `withKillPoint-${made}`;
  await bed.makeServer(name, state);
  const command = action === "command" ? `say ${name}` : "";
  const id = await bed.addTask(name, { action, command, next_run_at: new Date(bed.clock.now) });
  return { name, id };
}

/** Ticks with the operator at work until a run is over; the clock goes on so that an abandoned claim ends too. */
async function finishRun(heir: Scheduler, { name, id }: { name: string; id: number }): Promise<void> {
  for (let left = 12; left > 0; left--) {
    await settle(name);
    await heir.tick();
    if ((await bed.read(id)).run_state === "" && (await bed.told(id)).length > 0) return;
    bed.clock.now += minute;
  }
  assert.fail(`the run of ${name} never ended: ${JSON.stringify(await bed.read(id))}`);
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
    test(`at any line of ${fact} leaves a run that another ends, once, with the server as it should be`, async () => {
      const heir = bed.replica();
      const seen = new Set<string>();
      const die = async (death: KillPoint): Promise<boolean> => {
        const task = await due(action, from);
        const before = bed.heard.length;
        const victim = withKillPoint(bed.deps, death);
        const first = createScheduler(victim.deps);
        let isOver = false;
        for (let left = 8; left > 0 && !victim.isDead() && !isOver; left--) {
          let hasTicked = false;
          void first.tick().then(() => {
            hasTicked = true;
          });
          await until(() => hasTicked || victim.isDead());
          await settle(task.name);
          const { run_state } = await bed.read(task.id);
          isOver = run_state === "" && (await bed.told(task.id)).length > 0;
        }
        const row = await bed.read(task.id);
        if (victim.isDead()) seen.add(row.run_state);
        if (!isOver) await finishRun(heir, task);
        const { last_result, last_detail } = await bed.read(task.id);
        const about = `${action} killed ${death.when} effect ${death.at} (${victim.effects().join()}): ${last_detail}`;
        const isLost = last_detail === "svc was stopped in the middle of this run.";
        assert.ok(last_result === "ok" || (last_result === "failed" && isLost), about);
        assert.deepEqual(await bed.told(task.id), [last_result], about);
        assert.ok(bed.heard.length - before <= 1, about);
        const { desiredState } = (await bed.getServer(task.name)).spec;
        // What never got beyond its claim may or may not have been done; a server is never left stopped for later.
        const isFine = desiredState === ends || (isLost && desiredState === from.desired);
        assert.ok(isFine, `${about}; the server is ${desiredState}`);
        if (action === "backup") {
          const keys = [...bed.storage.runs].filter((key) => key.startsWith(`schedule-${task.id}-`));
          assert.ok(keys.length <= 1, about);
          if (last_result === "ok") assert.equal(keys.length, 1, about);
        }
        await bed.stage.database.admin("delete from lifecycle.server_schedules where id = $1", [task.id]);
        return victim.isDead();
      };
      // Before and after each effect; without `--whole` in turn.
      let at = 1;
      let isDead = true;
      while (isDead) {
        if (isWhole || at % 2 === 1) isDead = await die({ at, when: "before" });
        if (isDead && (isWhole || at % 2 === 0)) isDead = await die({ at, when: "after" });
        if (isDead) at += 1;
      }
      assert.ok(at >= 3, `only ${at} effects were seen`);
      const passed = { restart: ["claimed", "stopping", "starting"], backup: ["stopping", "backing_up"] };
      const states = action === "restart" || action === "backup" ? passed[action] : ["claimed"];
      for (const state of isWhole ? states : [])
        assert.ok(seen.has(state), `${state} was not among ${[...seen].join()}`);
    });
  }
});

test("two replicas that look at the same moment, again and again, never fire twice", async () => {
  const [one, two] = [bed.replica(), bed.replica()];
  await bed.makeServer("twins", running);
  const hourly = { every_minutes: 60, minute_of_day: 0, next_run_at: new Date(bed.clock.now) };
  const commands: number[] = [];
  for (const word of ["a", "b"]) {
    commands.push(await bed.addTask("twins", { ...hourly, action: "command", command: `say ${word}` }));
  }
  bed.heard.length = 0;
  const rounds = many(200, 40);
  for (let round = 0; round < rounds; round++) {
    await Promise.all([one.tick(), two.tick(), one.tick()]);
    const rows = await Promise.all(commands.map((id) => bed.read(id)));
    bed.clock.now = rows[0]?.next_run_at?.getTime() ?? assert.fail("there is no next run");
  }
  assert.equal(bed.heard.filter((line) => line === "say a").length, rounds);
  assert.equal(bed.heard.filter((line) => line === "say b").length, rounds);
  for (const id of commands) assert.deepEqual(await bed.told(id), Array(rounds).fill("ok"));
  await bed.stage.database.admin("delete from lifecycle.server_schedules where server_name = 'twins'");
});

test("three replicas restart a server again and again with one stop and one start each", async () => {
  const replicas = [bed.replica(), bed.replica(), bed.replica()];
  const tickAll = () => Promise.all(replicas.map((replica) => replica.tick()));
  await bed.makeServer("often", running);
  const hourly = { every_minutes: 60, minute_of_day: 0, next_run_at: new Date(bed.clock.now) };
  const id = await bed.addTask("often", { ...hourly, action: "restart" });
  const generation = async () => (await bed.getServer("often")).metadata.generation ?? 0;
  const before = await generation();
  const rounds = many(50, 10);
  for (let round = 0; round < rounds; round++) {
    await tickAll();
    await settle("often");
    await tickAll();
    await settle("often");
    bed.clock.now = (await bed.read(id)).next_run_at?.getTime() ?? assert.fail("there is no next run");
  }
  assert.deepEqual(await bed.told(id), Array(rounds).fill("ok"));
  await bed.stage.database.admin("delete from lifecycle.server_schedules where server_name = 'often'");
  // The generation counts changes of the spec, and the operator of this test writes the spec that is there already.
  assert.equal((await generation()) - before, 2 * rounds);
});

test("a replica that was slow does not stop what was stopped for the run and started by someone since", async () => {
  const quick = bed.replica();
  const { name, id } = await due("restart", running);
  const dies = withKillPoint(bed.deps, { at: 2, when: "after" });
  void createScheduler(dies.deps).tick();
  await until(() => dies.isDead());
  assert.equal((await bed.read(id)).run_state, "stopping");
  let isFirst = true;
  const find: typeof bed.deps.kube.find = async (kind, target, about) => {
    const seen = await bed.deps.kube.find(kind, target, about);
    if (!isFirst) return seen;
    isFirst = false;
    await quick.tick();
    assert.equal((await bed.getServer(name)).spec.desiredState, "Stopped");
    await bed.setState(name, running);
    return seen;
  };
  await bed.replica((deps) => ({ ...deps, kube: { ...deps.kube, find } })).tick();
  assert.equal(isFirst, false);
  assert.equal((await bed.getServer(name)).spec.desiredState, "Running");
  assert.equal((await bed.read(id)).last_detail, "Someone started the server.");
});
