// Replicas that are killed in the middle of a chain, or work on it at the same time: each step is done at most once, in order.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { many } from "@svc/config/testing";
import { until } from "@svc/mesh/testing";
import { type KillPoint, killAtEachPoint } from "../testing/kill-point.ts";
import { withKillPoint } from "../testing/schedule/kill-points.ts";
import {
  minute,
  openScheduleFixture,
  running,
  type ScheduleFixture,
  stopped,
} from "../testing/schedule/schedule-fixture.ts";
import type { Step } from "./chain.ts";
import { createScheduler } from "./scheduler.ts";

let fixture: ScheduleFixture;
before(async () => {
  fixture = await openScheduleFixture(["lifecycle.max_running_servers=50"]);
});
after(() => fixture.close());

/** Sets the phase that the operator would derive from the desired state. */
async function settle(name: string): Promise<void> {
  const { spec, status } = await fixture.getServer(name);
  const wanted = spec.desiredState === "Running" ? running : stopped;
  if (status?.phase !== wanted.phase) await fixture.setState(name, wanted);
}

let made = 0;
async function due() {
  made += 1;
  const name = `chain-${made}`;
  await fixture.makeServer(name, running);
  const say = (text: string, more: Partial<Step> = {}): Step => ({
    ...{ action: "command", command: `say ${text} ${name}`, wait_seconds: 0 },
    ...more,
  });
  const next_steps: Step[] = [
    { action: "backup", command: "", wait_seconds: 0 },
    say("second", { wait_seconds: 30, only_if: "previous_succeeded" }),
    { action: "restart", command: "", wait_seconds: 0 },
    say("third"),
  ];
  const id = await fixture.addTask(name, {
    ...{ action: "command", command: `say first ${name}`, next_steps },
    next_run_at: new Date(fixture.clock.now),
  });
  return { name, id };
}

const isOver = async (id: number) =>
  (await fixture.read(id)).run_state === "" && (await fixture.reportedResults(id)).length > 0;

/** Kills a replica at one effect of a chain; another one finishes it. False when there was no such effect. */
async function die(killPoint: KillPoint): Promise<boolean> {
  const { name, id } = await due();
  const before = fixture.commands.length;
  const victim = withKillPoint(fixture.deps, killPoint);
  const first = createScheduler(victim.deps);
  for (let left = 12; left > 0 && !victim.isKilled() && !(await isOver(id)); left--) {
    let hasTicked = false;
    void first.tick().then(() => {
      hasTicked = true;
    });
    await until(() => hasTicked || victim.isKilled());
    await settle(name);
    fixture.clock.now += minute;
  }
  const heir = fixture.replica();
  for (let left = 20; left > 0 && !(await isOver(id)); left--) {
    await settle(name);
    await heir.tick();
    fixture.clock.now += minute;
  }
  const row = await fixture.read(id);
  const about = `killed ${killPoint.when} effect ${killPoint.at} (${victim.effects().join()}): ${JSON.stringify(row)}`;
  assert.equal(await isOver(id), true, about);
  assert.deepEqual(await fixture.reportedResults(id), [row.last_result], about);
  // One step at most was interrupted; the others did what they should.
  const isLost = (code: string | undefined) => code === "svc_interrupted";
  const lost = row.step_endings.findIndex(({ code }) => isLost(code));
  const expected = Array(5).fill("ok");
  if (lost !== -1) expected[lost] = "failed";
  if (lost === 1) expected[2] = "skipped";
  assert.deepEqual(
    row.step_endings.map(({ result }) => result),
    expected,
    about,
  );
  const words = fixture.commands.slice(before).map((line) => line.split(" ")[1]);
  const isSkipped = (word: string, at: number) => lost === at || (word === "second" && lost === 1);
  const sure = ["first", "second", "third"].filter((word, at) => !isSkipped(word, at * 2));
  assert.deepEqual(words, [...new Set(words)], `a command was sent twice; ${about}`);
  assert.deepEqual(
    words.filter((word) => word !== undefined && sure.includes(word)),
    sure,
    about,
  );
  const backups = [...fixture.storage.runs].filter((key) => key.startsWith(`schedule-${id}-`));
  assert.ok(lost === 1 ? backups.length <= 1 : backups.length === 1, about);
  assert.equal((await fixture.getServer(name)).spec.desiredState, "Running", about);
  await fixture.base.database.admin("delete from lifecycle.server_schedules where id = $1", [id]);
  // So many servers may not run at once.
  await fixture.setState(name, stopped);
  return victim.isKilled();
}

test("a replica that is killed at any point of a chain leaves a run that another one ends, with no step done twice", async () => {
  const at = await killAtEachPoint(die);
  assert.ok(at > 15, `only ${at} effects were seen`);
});

test("three replicas that tick at the same time do each step of a chain once", async () => {
  const replicas = [fixture.replica(), fixture.replica(), fixture.replica()];
  await fixture.makeServer("triplets", running);
  const next_steps: Step[] = ["b", "c"].map((word) => ({
    ...({ action: "command", command: `say ${word}` } as const),
    wait_seconds: word === "b" ? 0 : 30,
  }));
  const id = await fixture.addTask("triplets", {
    ...{ action: "command", command: "say a", next_steps, every_minutes: 60, minute_of_day: 0 },
    next_run_at: new Date(fixture.clock.now),
  });
  fixture.commands.length = 0;
  const rounds = many(60, 15);
  for (let round = 0; round < rounds; round++) {
    await Promise.all(replicas.map((replica) => replica.tick()));
    fixture.clock.now += minute / 2;
    await Promise.all(replicas.map((replica) => replica.tick()));
    fixture.clock.now =
      (await fixture.read(id)).next_run_at?.getTime() ?? assert.fail("there is no next run");
  }
  assert.deepEqual(
    fixture.commands,
    Array.from({ length: rounds }, () => ["say a", "say b", "say c"]).flat(),
  );
  assert.deepEqual(await fixture.reportedResults(id), Array(rounds).fill("ok"));
});
