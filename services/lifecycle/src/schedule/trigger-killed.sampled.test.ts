// Replicas that are killed while something happens that tasks wait for, or look at it at the same time: it runs each task once.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
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
import type { ScheduleDeps } from "./deps.ts";
import { createScheduler } from "./scheduler.ts";

let fixture: ScheduleFixture;
before(async () => {
  fixture = await openScheduleFixture(["lifecycle.max_running_servers=50"]);
});
after(() => fixture.close());

const sql = (text: string, values: unknown[] = []) => fixture.base.database.admin(text, values);
const crash = (name: string) =>
  sql(
    `insert into lifecycle.server_crashes (id, server_name, run, at, cause, ran_seconds, was_running, lines)
     values ($1::uuid, $2, $1::uuid::text, $3, 'unknown', 60, true, '{}')`,
    [randomUUID(), name, new Date(fixture.clock.now)],
  );
const failBackup = (deps: ScheduleDeps, name: string, job: string) =>
  deps.triggers.note([
    {
      server: name,
      happening: {
        ...({ event: `backup-${job}`, trigger: "backup_failed" } as const),
        ...{ at: new Date(fixture.clock.now), about: job },
      },
    },
  ]);
const outcomes = async (id: number) => {
  const rows = await sql(
    "select outcome from lifecycle.trigger_events where schedule_id = $1 order by happened_at",
    [id],
  );
  return rows.map(({ outcome }) => outcome);
};

let made = 0;
/** A server with a task for each kind of event; that of the crash is a chain. */
async function make() {
  made += 1;
  const name = `fired-${made}`;
  await fixture.makeServer(name, running);
  const say = (word: string) => ({ action: "command", command: `say ${word} ${name}` }) as const;
  const next_steps: Step[] = [{ ...say("mended"), wait_seconds: 30 }];
  const add = (about: Parameters<ScheduleFixture["addTask"]>[1]) =>
    fixture.addTask(name, { pause_minutes: 1, ...about });
  const ids = [
    await add({ ...say("welcome"), trigger: "first_player_joined" }),
    await add({ ...say("crashed"), next_steps, trigger: "server_crashed" }),
    await add({ ...say("unsaved"), trigger: "backup_failed" }),
    await add({ ...say("lonely"), trigger: "server_empty", trigger_minutes: 2 }),
  ];
  return { name, ids };
}
const words = ["welcome", "crashed", "mended", "unsaved", "lonely"];

const isOver = async (ids: readonly number[]) => {
  const ended = await Promise.all(
    ids.map(async (id) => (await fixture.read(id)).run_state === "" && (await outcomes(id)).includes("ran")),
  );
  return ended.every(Boolean);
};

/** Kills a replica at one effect; another one goes on. False when there was no such effect. */
async function die(killPoint: KillPoint): Promise<boolean> {
  const { name, ids } = await make();
  const before = fixture.commands.length;
  const victim = withKillPoint(fixture.deps, killPoint);
  const [first, heir] = [createScheduler(victim.deps), fixture.replica()];
  /** False when the victim died of it. */
  const isDone = async (work: Promise<unknown>) => {
    const state = { isDone: false };
    void work.then(() => {
      state.isDone = true;
    });
    await until(() => state.isDone || victim.isKilled());
    return state.isDone;
  };
  const parts: Partial<Record<number, () => Promise<unknown>>> = {
    2: () => fixture.setState(name, { ...running, online: 1 }),
    3: () => crash(name),
    4: () => fixture.setState(name, running),
  };
  let isAcknowledged = false;
  for (let round = 0; round < 20 && !(round > 4 && (await isOver(ids))); round++) {
    await parts[round]?.();
    // What is not acknowledged is delivered again.
    if (round >= 3 && !isAcknowledged) {
      const deps = victim.isKilled() ? fixture.deps : victim.deps;
      isAcknowledged = await isDone(failBackup(deps, name, "job"));
    }
    if (victim.isKilled()) await heir.tick();
    else await isDone(first.tick());
    fixture.clock.now += minute / 2;
  }
  const rows = await Promise.all(ids.map((id) => fixture.read(id)));
  const about = `killed ${killPoint.when} effect ${killPoint.at} (${victim.effects().join()}): ${JSON.stringify(rows)}`;
  const isLost = (row: (typeof rows)[number]) =>
    [row, ...row.step_endings].some(
      (one) => ("code" in one ? one.code : (one as typeof row).last_code) === "svc_interrupted",
    );
  for (const row of rows) {
    assert.deepEqual([row.run_state, await outcomes(row.id)], ["", ["ran"]], about);
    assert.deepEqual(await fixture.reportedResults(row.id), [isLost(row) ? "failed" : "ok"], about);
  }
  const said = fixture.commands.slice(before);
  const times = words.map((word) => said.filter((line) => line === `say ${word} ${name}`).length);
  const lost = rows.filter(isLost).length;
  // Those that were begun by the same look.
  assert.ok(lost <= 2 && times.every((count) => count <= 1), `${times}; ${about}`);
  assert.ok(times.filter((count) => count === 0).length <= lost, `${times}; ${about}`);
  await sql("delete from lifecycle.server_schedules where server_name = $1", [name]);
  await fixture.setState(name, stopped);
  return victim.isKilled();
}

test("a replica that is killed at any point leaves what happened to another one, and nothing is done twice", async () => {
  const at = await killAtEachPoint(die);
  assert.ok(at > 15, `only ${at} effects were seen`);
});

test("three replicas that look at the same time run each task once for each time it happens", async () => {
  const replicas = [fixture.replica(), fixture.replica(), fixture.replica()];
  const { name, ids } = await make();
  const tick = async () => {
    await Promise.all(replicas.map((replica) => replica.tick()));
    await Promise.all(replicas.map((replica) => replica.tick()));
    fixture.clock.now += minute;
  };
  await tick();
  const before = fixture.commands.length;
  const rounds = many(30, 8);
  for (let round = 0; round < rounds; round++) {
    await fixture.setState(name, { ...running, online: 1 });
    await crash(name);
    await Promise.all(replicas.map(() => failBackup(fixture.deps, name, `job-${round}`)));
    await tick();
    await fixture.setState(name, running);
    for (let left = 4; left > 0; left--) await tick();
    // Nothing follows any more from what the tasks did.
    for (let left = 3; left > 0; left--) {
      fixture.clock.now += 4 * minute;
      await tick();
    }
  }
  const said = fixture.commands.slice(before);
  for (const word of words) {
    assert.equal(said.filter((line) => line === `say ${word} ${name}`).length, rounds, word);
  }
  for (const id of ids) assert.deepEqual(await outcomes(id), Array(rounds).fill("ran"));
});
