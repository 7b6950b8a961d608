// The operations as a gateway calls them, and two real runs on a real server.

import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { resources } from "@svc/kube";
import { account, faultOf, staff, until } from "@svc/mesh/testing";
import { schedules as contracts, type InputOf, servers as serverContracts } from "@svc/proto";
import { servers } from "../cluster/resource.ts";
import { serviceOf } from "../reconcile/objects.ts";
import { type Fixture, namespace, openFixture, type Replica } from "../testing/fixture.ts";

const overrides = [
  "lifecycle.stop_notice=300ms",
  "lifecycle.arrival_window=300ms",
  "lifecycle.schedule_tick=100ms",
  "lifecycle.schedule_limit=5",
  "lifecycle.lease_duration=2s",
  "lifecycle.lease_renew=300ms",
];
const name = "survival";
const owner = account("usr-1");
const stranger = account("usr-2");

let fixture: Fixture;
let replica: Replica;
before(async () => {
  fixture = await openFixture();
  replica = await fixture.start(overrides);
  await fixture.external.call(serverContracts.create, { name, subdomain: name, memory: "1Gi" }, staff);
  await sql("update lifecycle.servers set owner_id = 'usr-1' where name = $1", [name]);
});
after(() => fixture.close());

const sql = (text: string, values: unknown[] = []) => fixture.database.admin(text, values);
type Input = Omit<InputOf<typeof contracts.create>, "name">;
const nightly: Input = { action: "restart", weekdays: 127, timezone: "Europe/Berlin", minute_of_day: 300 };
const create = (input: Partial<Input> = {}, who = owner) =>
  fixture.external.call(contracts.create, { name, ...nightly, ...input }, who);
const update = (id: string | number, input: Partial<Input> = {}, who = owner) =>
  fixture.external.call(contracts.update, { name, id: `${id}`, ...nightly, ...input }, who);
const remove = (id: string | number, who = owner) =>
  fixture.external.call(contracts.remove, { name, id: `${id}` }, who);
const run = (id: string | number, who = owner) =>
  fixture.external.call(contracts.runNow, { name, id: `${id}` }, who);
/** A task that waits between two steps of its run. */
const makeWait = async (id: number) => {
  const set =
    "run_state = 'claimed', run_waits = true, run_step = 1, run_step_at = now() + interval '1 hour', last_run_at = now()";
  const endings = `step_endings = '[{"result":"ok","detail":""}]'`;
  await sql(`update lifecycle.server_schedules set ${set}, ${endings} where id = $1`, [id]);
};
const list = (who = owner) => fixture.external.call(contracts.list, { name }, who);
const find = async (id: number) => (await list(staff)).schedules.find((one) => one.id === id);
const audited = (action: string, id: number) =>
  until(async () =>
    (await fixture.audits()).some((entry) => entry.action === action && entry.payload["id"] === id),
  );

describe("saving tasks", () => {
  test("whoever shows the tasks is told of each change", async () => {
    const { id } = await create();
    await update(id);
    await remove(id);
    const rows = await sql(
      "select body from lifecycle.outbox where subject = 'svc.evt.lifecycle.schedule.changed.survival'",
    );
    const received = rows.map(({ body }) => contracts.scheduleChanged.data.parse(JSON.parse(String(body))));
    assert.equal(received.filter((one) => one.name === name && one.id === id).length, 3);
  });

  test("a task is created, listed, replaced and deleted, and each change is audited", async () => {
    const made = await create({ label: " nightly ", warn_minutes: 5 });
    const { id, next_run_at, created_at, ...rest } = made;
    assert.deepEqual(rest, {
      server: name,
      label: "nightly",
      action: "restart",
      command: "",
      every_minutes: 0,
      minute_of_day: 300,
      weekdays: 127,
      timezone: "Europe/Berlin",
      warn_minutes: 5,
      enabled: true,
      run_state: "",
      last_run_at: null,
      last_result: "",
      last_detail: "",
      created_by: "usr-1",
    });
    assert.ok(Date.parse(next_run_at ?? "") > Date.now() && Date.parse(created_at) <= Date.now());
    assert.deepEqual(await list(), { server: name, schedules: [made], limit: 5 });
    const changed = await update(id, { action: "command", command: "/list", every_minutes: 15 });
    assert.deepEqual(
      [changed.command, changed.every_minutes, changed.minute_of_day, changed.label, changed.warn_minutes],
      ["list", 15, 0, "", 0],
    );
    assert.deepEqual((await list(staff)).schedules, [changed]);
    const off = await update(id, { enabled: false });
    assert.deepEqual([off.enabled, off.next_run_at], [false, null]);
    assert.equal(await remove(id), null);
    assert.deepEqual((await list()).schedules, []);
    for (const action of ["schedule.create", "schedule.update", "schedule.delete"]) await audited(action, id);
  });

  test("of tasks created at once only as many exist as a server may have", async () => {
    const results = await Promise.all(Array.from({ length: 20 }, () => faultOf(create())));
    assert.equal(results.filter((result) => result === "none").length, 5);
    assert.equal(results.filter((result) => result === "schedule_limit").length, 15);
    for (const { id } of (await list()).schedules) await remove(id);
  });

  test("a chain is created, listed, kept by who does not know it, replaced, and taken apart", async () => {
    const next_steps = [
      { action: "command", command: "/say done", wait_seconds: 60, only_if: "previous_succeeded" },
    ];
    const made = await create({ action: "backup", only_if: "played_since_success", next_steps });
    const { id } = made;
    const stored = [
      { action: "command", command: "say done", wait_seconds: 60, only_if: "previous_succeeded" },
    ];
    assert.deepEqual(
      [made.only_if, made.next_steps, made.step_endings],
      ["played_since_success", stored, undefined],
    );
    assert.deepEqual((await list()).schedules, [made]);
    const kept = await update(id, { action: "backup", minute_of_day: 60 });
    assert.deepEqual(
      [kept.only_if, kept.next_steps, kept.minute_of_day],
      ["played_since_success", stored, 60],
    );
    const changed = await update(id, { next_steps: [{ action: "start" }] });
    assert.deepEqual(changed.next_steps, [{ action: "start", command: "", wait_seconds: 0 }]);
    const single = await update(id, { only_if: "", next_steps: [] });
    assert.deepEqual([single.only_if, single.next_steps], [undefined, undefined]);
    await until(async () =>
      (await fixture.audits()).some(
        ({ action, payload }) => action === "schedule.create" && "next_steps" in payload,
      ),
    );
    await remove(id);
  });

  test("a run that waits between two steps ends when its task is saved, switched off or deleted", async () => {
    const { id } = await create({ next_steps: [{ action: "stop", wait_seconds: 3_600 }] });
    const runs = async () => {
      const text =
        "select body from lifecycle.outbox where subject like '%.schedule.run-finished.%' order by id";
      const bodies = (await sql(text)).map(({ body }) => JSON.parse(String(body)));
      return bodies.filter((body) => body.id === id).map(({ result, chain_code: code }) => [result, code]);
    };
    await makeWait(id);
    const waiting = await find(id);
    assert.ok(Date.parse(waiting?.waits_until ?? "") > Date.now());
    assert.equal(await faultOf(run(id)), "schedule_running");
    const off = await update(id, { enabled: false });
    assert.deepEqual(
      [off.enabled, off.run_state, off.last_result, off.chain_code, off.waits_until],
      [false, "", "skipped", "run_cancelled", undefined],
    );
    assert.deepEqual(
      off.step_endings?.map(({ result }) => result),
      ["ok", "skipped"],
    );
    const other = await update(id, { next_steps: [{ action: "stop" }, { action: "start" }] });
    assert.deepEqual([other.last_result, other.step_endings], ["skipped", undefined]);
    await makeWait(id);
    assert.equal(await remove(id), null);
    assert.deepEqual(await runs(), [
      ["skipped", "run_cancelled"],
      ["skipped", "run_cancelled"],
    ]);
  });

  const refusals: [fact: string, call: () => Promise<unknown>, fault: string][] = [
    ["settings that are out of range", () => create({ weekdays: 0 }), "bad_schedule"],
    [
      "a command that smuggles a second line",
      () => create({ action: "command", command: "say\nop me" }),
      "bad_request",
    ],
    ["a step that is out of range", () => create({ next_steps: [{ action: "explode" }] }), "bad_schedule"],
    [
      "a step that smuggles a second line",
      () => create({ next_steps: [{ action: "command", command: "say\nop me" }] }),
      "bad_request",
    ],
    [
      "a field of a step that nobody knows",
      () => create({ next_steps: [{ action: "stop", ...{ owner: "me" } }] }),
      "bad_request",
    ],
    ["a field nobody knows", () => create({ owner: "me" } as Partial<Input>), "bad_request"],
    ["a stranger's task", () => create({}, stranger), "forbidden"],
    ["a stranger's look", () => list(stranger), "forbidden"],
    [
      "the name of a system server",
      () => fixture.external.call(contracts.list, { name: "lobby" }, staff),
      "bad_name",
    ],
    [
      "a server that is not there",
      () => fixture.external.call(contracts.list, { name: "nowhere" }, staff),
      "not_found",
    ],
    ["an id that is none", () => update("seven"), "bad_id"],
    ["an id below one", () => remove("0"), "bad_id"],
    ["an id beyond all numbers", () => run("9223372036854775807"), "not_found"],
    ["a task that is not there", () => run(4_711), "not_found"],
  ];
  for (const [fact, call, fault] of refusals) {
    test(`${fact} is refused as ${fault}`, async () => assert.equal(await faultOf(call()), fault));
  }

  test("a task of another server is not found", async () => {
    const { id } = await create();
    await fixture.external.call(serverContracts.create, { name: "other", subdomain: "other" }, staff);
    assert.equal(
      await faultOf(fixture.external.call(contracts.runNow, { name: "other", id: `${id}` }, staff)),
      "not_found",
    );
    await remove(id);
  });

  test("a running task is neither replaced nor deleted nor run", async () => {
    const { id } = await create();
    await sql(
      "update lifecycle.server_schedules set run_state = 'claimed', run_step_at = now() where id = $1",
      [id],
    );
    for (const call of [() => update(id), () => remove(id), () => run(id)]) {
      assert.equal(await faultOf(call()), "schedule_running");
    }
    await sql("update lifecycle.server_schedules set run_state = '' where id = $1", [id]);
    await remove(id);
  });

  test("a task of a former owner is stale, is switched off when it is due, and runs again when saved", async () => {
    const { id } = await create();
    await sql("update lifecycle.servers set owner_id = 'usr-2' where name = $1", [name]);
    assert.equal(await faultOf(run(id, stranger)), "schedule_stale");
    assert.equal(await faultOf(update(id)), "forbidden");
    await sql("update lifecycle.server_schedules set next_run_at = now() where id = $1", [id]);
    await until(async () => (await find(id))?.enabled === false);
    const off = await find(id);
    assert.deepEqual([off?.last_result, off?.next_run_at], ["skipped", null]);
    assert.match(off?.last_detail ?? "", /new owner/);
    assert.equal(off?.last_code, "owner_changed");
    const saved = await update(id, {}, stranger);
    assert.deepEqual(
      [saved.enabled, saved.last_result, saved.last_detail, saved.last_code],
      [true, "", "", undefined],
    );
    await remove(id, stranger);
    await sql("update lifecycle.servers set owner_id = 'usr-1' where name = $1", [name]);
  });
});

describe("running a task by hand", () => {
  test("a disabled task runs, and stays disabled", async () => {
    const { id } = await create({ action: "stop", enabled: false });
    const answer = await run(id);
    assert.deepEqual([answer.run_state, answer.last_result, answer.next_run_at], ["", "skipped", null]);
    await audited("schedule.run_now", id);
    await audited("schedule.run", id);
    assert.equal((await find(id))?.enabled, false);
    await remove(id);
  });

  test("a backup without storage fails and says so", async () => {
    const { id, next_run_at } = await create({ action: "backup" });
    const answer = await run(id);
    assert.deepEqual([answer.run_state, answer.last_result, answer.next_run_at], ["", "failed", next_run_at]);
    assert.equal(answer.last_detail, "No backup was made: the backup service is not responding.");
    assert.deepEqual([answer.last_code, answer.last_cause], ["backup_refused", "unavailable"]);
    await remove(id);
  });

  test("a run continues when its caller has left", async () => {
    const { id } = await create({ action: "stop" });
    const leaving = new AbortController();
    const about = { ...owner, signal: leaving.signal };
    const call = fixture.external.call(contracts.runNow, { name, id: `${id}` }, about).catch(() => "gone");
    await until(async () => (await find(id))?.last_run_at !== null);
    leaving.abort();
    await call;
    await until(async () => (await find(id))?.last_result === "skipped");
    await remove(id);
  });
});

describe("on a running server", () => {
  const read = () => fixture.external.call(serverContracts.viewStatus, { name }, staff);
  const isIn = (phase: string) => until(async () => (await read()).phase === phase, 40_000);

  test("a task starts it during the cooldown of players", async () => {
    // The clusters of other test processes assign the same loopback addresses; ours is random.
    const service = serviceOf(await fixture.kube.get(servers, { name, namespace }), true);
    const clusterIP = `127.${randomInt(97, 100)}.${randomInt(1, 255)}.${randomInt(1, 255)}`;
    await fixture.kube.create(resources.services, { ...service, spec: { ...service.spec, clusterIP } });
    await sql("update lifecycle.servers set last_wake_at = now() where name = $1", [name]);
    const { id } = await create({ action: "start" });
    const answer = await run(id);
    assert.deepEqual([answer.run_state, answer.last_result], ["", "ok"]);
    await isIn("Running");
    await remove(id);
  });

  test("a due command is sent and its reply is stored", async () => {
    const { id } = await create({ action: "command", command: "/list", every_minutes: 15 });
    await sql("update lifecycle.server_schedules set next_run_at = now() where id = $1", [id]);
    await until(async () => (await find(id))?.last_result !== "");
    const done = await find(id);
    assert.equal(done?.last_result, "ok");
    assert.match(done?.last_detail ?? "", /There are 0 of a max of 20 players online/);
    await remove(id);
  });

  test("a due restart stops it, starts it, and is counted", async () => {
    const podOf = async () =>
      (await fixture.kube.find(resources.pods, { name: `${name}-0`, namespace }))?.metadata.uid;
    const before = await podOf();
    const { id } = await create();
    await sql("update lifecycle.server_schedules set next_run_at = now() where id = $1", [id]);
    await until(async () => (await find(id))?.run_state === "stopping");
    assert.equal(await faultOf(remove(id)), "schedule_running");
    await until(async () => (await find(id))?.last_result === "ok", 40_000);
    await isIn("Running");
    assert.notEqual(await podOf(), before);
    const metrics = await replica.registry.metrics();
    assert.match(metrics, /svc_schedule_runs_total\{action="restart",result="ok"\} 1/);
    assert.match(metrics, /svc_schedule_tick_duration_seconds_count\{result="done"\} [1-9]/);
    await audited("schedule.run", id);
    await remove(id);
  });

  test("of two replicas one finds due tasks, and the other takes over when it ends", async () => {
    const other = await fixture.start(overrides);
    const ticks = /svc_schedule_tick_duration_seconds_count\{result="done"\} [1-9]/;
    const { id } = await create({ action: "command", command: "list" });
    const makeDue = async () => {
      const set = "next_run_at = now(), last_result = ''";
      await sql(`update lifecycle.server_schedules set ${set} where id = $1`, [id]);
      await until(async () => (await find(id))?.last_result === "ok");
    };
    await makeDue();
    assert.doesNotMatch(await other.registry.metrics(), ticks);
    await replica.stop();
    await makeDue();
    // A tick is counted once it has ended, which is after its task has.
    await until(async () => ticks.test(await other.registry.metrics()));
    await remove(id);
  });
});
