// The operations on tasks with a trigger as a gateway calls them, and a run by the leader itself.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { account, faultOf, staff, until } from "@svc/mesh/testing";
import { schedules as contracts, type InputOf, servers as serverContracts } from "@svc/proto";
import { type Fixture, openFixture } from "../testing/fixture.ts";

const name = "survival";
const owner = account("usr-1");

let fixture: Fixture;
before(async () => {
  fixture = await openFixture();
  await fixture.start(["lifecycle.schedule_tick=100ms"]);
  await fixture.external.call(serverContracts.create, { name, subdomain: name, memory: "1Gi" }, staff);
  await sql("update lifecycle.servers set owner_id = 'usr-1' where name = $1", [name]);
});
after(() => fixture.close());

const sql = (text: string, values: unknown[] = []) => fixture.database.admin(text, values);
type Input = Omit<InputOf<typeof contracts.create>, "name">;
const base: Input = { action: "restart", weekdays: 127, timezone: "Europe/Berlin" };
const create = (input: Partial<Input> = {}) =>
  fixture.external.call(contracts.create, { name, ...base, ...input }, owner);
const update = (id: number, input: Partial<Input> = {}) =>
  fixture.external.call(contracts.update, { name, id: `${id}`, ...base, ...input }, owner);
const remove = (id: number) => fixture.external.call(contracts.remove, { name, id: `${id}` }, owner);
const run = (id: number) => fixture.external.call(contracts.runNow, { name, id: `${id}` }, owner);
const find = async (id: number) =>
  (await fixture.external.call(contracts.list, { name }, owner)).schedules.find((one) => one.id === id);

describe("tasks with a trigger", () => {
  test("a trigger is saved, kept by who does not know it, changed, and given up for the clock", async () => {
    const made = await create({ trigger: "server_empty", trigger_minutes: 30, every_minutes: 60 });
    const { id } = made;
    const when = ({ trigger, trigger_minutes, pause_minutes, next_run_at, every_minutes }: typeof made) => [
      ...[trigger, trigger_minutes, pause_minutes],
      ...[next_run_at === null, every_minutes],
    ];
    assert.deepEqual(when(made), ["server_empty", 30, 5, true, 0]);
    assert.equal(made.enabled, true);
    assert.deepEqual(when(await update(id, { label: "as before" })), ["server_empty", 30, 5, true, 0]);
    const longer = await update(id, { trigger_minutes: 45, pause_minutes: 60 });
    assert.deepEqual(when(longer), ["server_empty", 45, 60, true, 0]);
    const crashed = await update(id, { trigger: "server_crashed" });
    assert.deepEqual(when(crashed), ["server_crashed", undefined, 60, true, 0]);
    assert.deepEqual(when(await update(id, { trigger: "server_empty" })), ["server_empty", 5, 60, true, 0]);
    assert.deepEqual(when(await update(id, { enabled: false })), ["server_empty", 5, 60, true, 0]);
    assert.deepEqual(when(await update(id, { trigger: "", every_minutes: 60 })), [
      ...[undefined, undefined, undefined],
      ...[false, 60],
    ]);
    for (const bad of [{ trigger: "boom" }, { trigger: "server_crashed", pause_minutes: 0 }])
      assert.equal(await faultOf(update(id, bad)), "bad_schedule");
    await remove(id);
  });

  test("what happened lately is in the list, the newest five first, and what waits ends with saving", async () => {
    const { id } = await create({ trigger: "server_empty" });
    await sql(
      `insert into lifecycle.trigger_events (schedule_id, event, trigger, happened_at, due_at, about, outcome)
       select $1, 'e-' || n, 'server_empty', at, at + interval '1 day', case n when 1 then 'x' else '' end,
         case n when 1 then 'waiting' else 'paused' end
       from generate_series(1, 7) n, lateral (select date_trunc('second', now()) - n * interval '1 hour' as at) t`,
      [id],
    );
    const events = (await find(id))?.trigger_events ?? [];
    const hours = events.map(({ at }) => Math.round((Date.now() - Date.parse(at)) / 3_600_000));
    assert.deepEqual(hours, [1, 2, 3, 4, 5]);
    const [newest, second] = events;
    assert.deepEqual([newest?.outcome, newest?.about, second?.about], ["waiting", "x", undefined]);
    assert.ok(Date.parse(newest?.due_at ?? "") > Date.now() && second?.due_at === undefined);
    await update(id);
    assert.equal((await find(id))?.trigger_events?.[0]?.outcome, "cancelled");
    await remove(id);
    assert.deepEqual(await sql("select * from lifecycle.trigger_events where schedule_id = $1", [id]), []);
  });

  test("a crash runs a task by the leader itself, and the event says why", async () => {
    const { id } = await create({ action: "command", command: "list", trigger: "server_crashed" });
    await sql(
      `insert into lifecycle.server_crashes (id, server_name, run, at, cause, ran_seconds, was_running, lines)
       values (gen_random_uuid(), $1, 'of a test', now(), 'java_heap', 60, true, '{}')`,
      [name],
    );
    await until(async () => (await find(id))?.last_result === "skipped");
    const task = await find(id);
    assert.deepEqual(
      [
        task?.last_code,
        task?.last_trigger?.trigger,
        task?.last_trigger?.about,
        task?.trigger_events?.[0]?.outcome,
      ],
      ["server_not_running", "server_crashed", "java_heap", "ran"],
    );
    const rows = await sql(
      "select body from lifecycle.outbox where subject like 'svc.evt.lifecycle.schedule.run-finished.%'",
    );
    const events = rows.map(({ body }) => contracts.runFinished.data.parse(JSON.parse(String(body))));
    assert.equal(events.find((event) => event.id === id)?.trigger, "server_crashed");
    const byHand = await run(id);
    assert.equal(byHand.last_trigger, undefined);
    await remove(id);
  });
});
