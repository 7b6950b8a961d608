// Every transition with a clock that the test moves, on a real database, a real cluster API and a real RCON port.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { KubeError } from "@svc/kube";
import { until } from "@svc/mesh/testing";
import { Fault } from "@svc/proto";
import { annotation, servers } from "../cluster/resource.ts";
import {
  minute,
  openScheduleFixture,
  running,
  type ScheduleFixture,
  stopped,
} from "../testing/schedule/schedule-fixture.ts";
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
const desired = async (name: string) => (await fixture.getServer(name)).spec.desiredState;
const aMinuteLater = (minutes = 1) => {
  fixture.clock.now += minutes * minute;
};

/** A server with a task that is due now. */
async function due(action: ScheduleRow["action"], state = running, about: Partial<ScheduleRow> = {}) {
  const name = fresh();
  await fixture.makeServer(name, state);
  const id = await fixture.addTask(name, { action, next_run_at: new Date(fixture.clock.now), ...about });
  return { name, id };
}

async function outcome(id: number) {
  const { run_state, last_result, last_detail } = await fixture.read(id);
  return [run_state, last_result, last_detail];
}

describe("a task that is due", () => {
  test("sends its command once, keeps the reply without colours, and is due again tomorrow", async () => {
    const { name, id } = await due("command", running, { command: `say ${fresh()}` });
    const before = fixture.clock.now;
    await one.tick();
    const row = await fixture.read(id);
    assert.deepEqual([row.run_state, row.last_result, row.last_detail], ["", "ok", `done: ${row.command}`]);
    assert.equal(row.last_run_at?.getTime(), before);
    assert.ok((row.next_run_at?.getTime() ?? 0) > before);
    assert.deepEqual(
      fixture.commands.filter((line) => line === row.command),
      [row.command],
    );
    assert.deepEqual(await fixture.reportedResults(id), ["ok"]);
    const entries = await fixture.base.audits();
    const entry = entries.find((e) => e.action === "schedule.run" && e.server_name === name);
    assert.deepEqual([entry?.actor, entry?.source], ["scheduler", "scheduler"]);
    await one.tick();
    assert.deepEqual(await fixture.reportedResults(id), ["ok"]);
  });

  test("fails when the command cannot be sent", async () => {
    const { name, id } = await due("command", running, { command: "list" });
    const merge = { status: { endpoint: { mode: "direct", address: "127.121.1.1:25565" } } };
    await fixture.base.kube.patch(
      servers,
      { name, namespace: "minecraft" },
      { merge, subresource: "status" },
    );
    await one.tick();
    const [state, result, detail] = await outcome(id);
    assert.deepEqual([state, result], ["", "failed"]);
    assert.match(detail ?? "", /^The command was not sent/);
  });

  test("stops a server", async () => {
    const { name, id } = await due("stop");
    await one.tick();
    assert.deepEqual([await desired(name), ...(await outcome(id))], ["Stopped", "", "ok", ""]);
  });

  test("starts a server during the cooldown, and leaves no cooldown", async () => {
    const { name, id } = await due("start", stopped);
    const wake = "update lifecycle.servers set last_wake_at = $2 where name = $1";
    await fixture.base.database.admin(wake, [name, new Date(Date.now() - 5_000)]);
    const [before] = await fixture.base.database.admin(
      "select last_wake_at from lifecycle.servers where name = $1",
      [name],
    );
    await one.tick();
    assert.deepEqual([await desired(name), ...(await outcome(id))], ["Running", "", "ok", ""]);
    const [now] = await fixture.base.database.admin(
      "select last_wake_at from lifecycle.servers where name = $1",
      [name],
    );
    assert.deepEqual(now, before);
  });

  test("skips the start of a retiring server", async () => {
    const { name, id } = await due("start", stopped);
    const retire = "update lifecycle.servers set retire_requested_at = now() where name = $1";
    await fixture.base.database.admin(retire, [name]);
    await one.tick();
    assert.equal(await desired(name), "Stopped");
    assert.deepEqual((await outcome(id)).slice(0, 2), ["", "skipped"]);
  });

  test("skips the start of a server whose world is locked", async () => {
    const { name, id } = await due("start", stopped);
    const annotations = { [annotation.maintenance]: `restore@${new Date().toISOString()}` };
    await fixture.base.kube.patch(
      servers,
      { name, namespace: "minecraft" },
      { merge: { metadata: { annotations } } },
    );
    await one.tick();
    assert.equal(await desired(name), "Stopped");
    assert.deepEqual((await outcome(id)).slice(0, 2), ["", "skipped"]);
  });

  test("restarts a server: stops it, waits, starts it", async () => {
    const { name, id } = await due("restart");
    await one.tick();
    assert.deepEqual([await desired(name), (await fixture.read(id)).run_state], ["Stopped", "stopping"]);
    await one.tick();
    assert.equal((await fixture.read(id)).run_state, "stopping");
    await fixture.setState(name, stopped);
    await one.tick();
    assert.deepEqual([await desired(name), ...(await outcome(id))], ["Running", "", "ok", ""]);
    assert.deepEqual(await fixture.reportedResults(id), ["ok"]);
  });

  test("ends a restart when someone starts the server meanwhile", async () => {
    const { name, id } = await due("restart");
    await one.tick();
    await fixture.setState(name, running);
    await one.tick();
    assert.deepEqual(await outcome(id), ["", "skipped", "Someone started the server."]);
    assert.equal(await desired(name), "Running");
  });

  test("starts a server again that did not stop within a quarter of an hour", async () => {
    const { name, id } = await due("restart");
    await one.tick();
    aMinuteLater(15.1);
    await one.tick();
    assert.deepEqual(
      [await desired(name), ...(await outcome(id))],
      ["Running", "", "failed", "The server did not stop in time."],
    );
  });

  test("backs a running server up: stops it, archives it, starts it", async () => {
    fixture.storage.state = "running";
    const { name, id } = await due("backup");
    await one.tick();
    assert.deepEqual([await desired(name), (await fixture.read(id)).run_state], ["Stopped", "stopping"]);
    await fixture.setState(name, stopped);
    await one.tick();
    const { run_state, run_job } = await fixture.read(id);
    assert.equal(run_state, "backing_up");
    assert.match(run_job, new RegExp(`^backup-schedule-${id}-`));
    await one.tick();
    assert.equal((await fixture.read(id)).run_state, "backing_up");
    fixture.storage.state = "succeeded";
    await one.tick();
    assert.deepEqual([await desired(name), ...(await outcome(id))], ["Running", "", "ok", ""]);
  });

  test("backs a stopped server up in one tick and leaves it stopped", async () => {
    const { name, id } = await due("backup", stopped);
    await one.tick();
    assert.deepEqual([await desired(name), ...(await outcome(id))], ["Stopped", "", "ok", ""]);
  });

  test("starts the server again after a backup that failed, and says why it failed", async () => {
    const { name, id } = await due("backup");
    await one.tick();
    await fixture.setState(name, stopped);
    Object.assign(fixture.storage, { state: "failed", message: "The disk is full." });
    await one.tick();
    Object.assign(fixture.storage, { state: "succeeded", message: undefined });
    assert.deepEqual(
      [await desired(name), ...(await outcome(id))],
      ["Running", "", "failed", "The disk is full."],
    );
  });

  test("disconnects nobody for a backup while the store is full", async () => {
    fixture.storage.refusal = "backup_store_full";
    const { name, id } = await due("backup");
    await one.tick();
    fixture.storage.refusal = undefined;
    assert.equal(await desired(name), "Running");
    assert.deepEqual(await outcome(id), ["", "failed", "No backup was made: The backup store is full."]);
  });
});

describe("a task that does not run", () => {
  test("was due over ten minutes ago: it is missed, published, and due again", async () => {
    const { name, id } = await due("stop");
    aMinuteLater(10.1);
    await one.tick();
    const row = await fixture.read(id);
    assert.deepEqual(await outcome(id), ["", "missed", "svc was not running at the scheduled time."]);
    assert.ok((row.next_run_at?.getTime() ?? 0) > fixture.clock.now);
    assert.deepEqual([await desired(name), await fixture.reportedResults(id)], ["Running", ["missed"]]);
  });

  test("belongs to a former owner: it is switched off and says so", async () => {
    const { name, id } = await due("stop");
    await fixture.base.database.admin("update lifecycle.servers set owner_id = 'usr-2' where name = $1", [
      name,
    ]);
    await one.tick();
    const row = await fixture.read(id);
    assert.deepEqual([row.enabled, row.next_run_at, row.last_result], [false, null, "skipped"]);
    assert.match(row.last_detail, /new owner; save it again/);
    assert.equal(await desired(name), "Running");
  });

  test("is not claimed when its server changes owner, or it is saved, between observation and claim", async () => {
    const hasChanged = [
      "update lifecycle.servers set owner_id = 'usr-2' where name = $1",
      "update lifecycle.servers set owner_id = null where name = $1",
      "update lifecycle.servers set deleted_at = now() where name = $1",
      "update lifecycle.server_schedules set command = 'other', updated_at = now() where server_name = $1",
      "update lifecycle.server_schedules set enabled = false where server_name = $1",
    ];
    for (const change of hasChanged) {
      const { name, id } = await due("command", running, { command: "op former" });
      const claim: typeof fixture.deps.schedules.claim = async (...args) => {
        await fixture.base.database.admin(change, [name]);
        return fixture.deps.schedules.claim(...args);
      };
      await fixture.replica((deps) => ({ ...deps, schedules: { ...deps.schedules, claim } })).tick();
      assert.equal((await fixture.read(id)).last_run_at, null, change);
      await fixture.base.database.admin("delete from lifecycle.server_schedules where id = $1", [id]);
    }
    assert.equal(fixture.commands.includes("op former"), false);
  });

  test("is of a server that was deleted: it is switched off", async () => {
    const { name, id } = await due("stop");
    await fixture.base.database.admin("update lifecycle.servers set deleted_at = now() where name = $1", [
      name,
    ]);
    await one.tick();
    assert.equal((await fixture.read(id)).enabled, false);
    assert.equal(await desired(name), "Running");
  });

  test("is disabled", async () => {
    const { name, id } = await due("stop", running, { enabled: false });
    await one.tick();
    assert.deepEqual([await desired(name), ...(await outcome(id))], ["Running", "", "", ""]);
  });
});

describe("when a dependency is away", () => {
  test("a due task waits for the cluster and runs when it is back", async () => {
    const { name, id } = await due("stop");
    const away = () => Promise.reject(new KubeError(503, "ServiceUnavailable", "away"));
    await fixture.replica((deps) => ({ ...deps, kube: { ...deps.kube, find: away } })).tick();
    assert.equal((await fixture.read(id)).last_run_at, null);
    await one.tick();
    assert.deepEqual([await desired(name), ...(await outcome(id))], ["Stopped", "", "ok", ""]);
  });

  test("a restart that cannot stop its server now is continued by the next tick", async () => {
    const { name, id } = await due("restart");
    const away = () => Promise.reject(new KubeError(503, "ServiceUnavailable", "away"));
    await fixture.replica((deps) => ({ ...deps, kube: { ...deps.kube, patch: away } })).tick();
    assert.deepEqual([await desired(name), (await fixture.read(id)).run_state], ["Running", "stopping"]);
    await one.tick();
    assert.deepEqual([await desired(name), (await fixture.read(id)).run_state], ["Stopped", "stopping"]);
    await fixture.setState(name, stopped);
    await one.tick();
    assert.deepEqual([await desired(name), ...(await outcome(id))], ["Running", "", "ok", ""]);
  });

  test("a tick without a database ends, and the next one does the work", async () => {
    const { name, id } = await due("stop");
    const away = () => Promise.reject(new Fault("unavailable"));
    await fixture.replica((deps) => ({ ...deps, schedules: { ...deps.schedules, findWork: away } })).tick();
    assert.equal(await desired(name), "Running");
    await one.tick();
    assert.deepEqual([await desired(name), ...(await outcome(id))], ["Stopped", "", "ok", ""]);
  });

  test("a run started by hand is answered although it takes long to start, and ends later", async () => {
    const { id } = await due("command", running, { command: "list", enabled: false });
    const reply = Promise.withResolvers<string>();
    const slow = fixture.replica((deps) => ({
      ...deps,
      settings: { ...deps.settings, schedule_first_step: 50 },
      rcon: { run: () => reply.promise },
    }));
    const found =
      (await fixture.deps.schedules.find((await fixture.read(id)).server_name, id)) ?? assert.fail();
    const audit = { action: "schedule.run_now", actor: "owner", source: "external" };
    const at = new Date(fixture.clock.now);
    const row = (await fixture.deps.schedules.claimNow(found.row, at, () => audit)) ?? assert.fail();
    await slow.start({ ...found, row });
    assert.equal((await fixture.read(id)).run_state, "claimed");
    reply.resolve("There are 0 players");
    await slow.idle();
    assert.deepEqual(await outcome(id), ["", "ok", "There are 0 players"]);
  });

  test("a slow server delays neither the others nor the next tick", async () => {
    const { id: slow } = await due("command", running, { command: "slow" });
    const { id: quick } = await due("command", running, { command: "quick" });
    const reply = Promise.withResolvers<string>();
    const replica = fixture.replica((deps) => ({
      ...deps,
      rcon: {
        run: (server, command) => (command === "slow" ? reply.promise : deps.rcon.run(server, command)),
      },
    }));
    const first = replica.tick();
    await until(async () => (await fixture.read(quick)).last_result === "ok");
    await replica.tick();
    assert.equal((await fixture.read(slow)).run_state, "claimed");
    reply.resolve("at last");
    await first;
    assert.deepEqual(await outcome(slow), ["", "ok", "at last"]);
  });
});

test("players are warned once, whatever the number of replicas", async () => {
  const { id } = await due("restart", running, {
    next_run_at: new Date(fixture.clock.now + 10 * minute),
    warn_minutes: 5,
  });
  fixture.commands.length = 0;
  await one.tick();
  assert.deepEqual(fixture.commands, []);
  aMinuteLater(6);
  await Promise.all([one, fixture.replica(), fixture.replica()].map((replica) => replica.tick()));
  await one.tick();
  assert.equal(fixture.commands.length, 1);
  assert.match(fixture.commands[0] ?? "", /^tellraw @a .*restarts in 4 minutes.*4 分钟后重启.*yellow/);
  assert.equal((await fixture.read(id)).last_result, "");
  await fixture.base.database.admin("delete from lifecycle.server_schedules where id = $1", [id]);
});

test("a run left in its claim fails after two minutes, and the task can run again", async () => {
  const { name, id } = await due("stop");
  const dies = fixture.replica((deps) => ({
    ...deps,
    kube: { ...deps.kube, patch: () => new Promise(() => {}) },
  }));
  void dies.tick();
  await until(async () => (await fixture.read(id)).run_state === "claimed");
  aMinuteLater(1.9);
  await one.tick();
  assert.equal((await fixture.read(id)).run_state, "claimed");
  aMinuteLater(0.2);
  await one.tick();
  assert.deepEqual(await outcome(id), ["", "failed", "svc was stopped in the middle of this run."]);
  assert.equal(await desired(name), "Running");
});
