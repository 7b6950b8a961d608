// What a maintenance window does to tasks (docs/reference/announcements.md#maintenance).

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  openScheduleFixture,
  running,
  type ScheduleFixture,
  stopped,
} from "../testing/schedule/schedule-fixture.ts";
import type { ScheduleRow } from "./row.ts";
import type { Scheduler } from "./scheduler.ts";

let fixture: ScheduleFixture;
let replica: Scheduler;
before(async () => {
  fixture = await openScheduleFixture();
  replica = fixture.replica();
  await fixture.base.database.admin(
    `insert into lifecycle.announcements (id, text_en, severity, starts_at, ends_at, maintenance, public, created_by, created_at)
     values ('disks', 'New disks.', 'info', now(), now() + interval '1 hour', true, false, 'owner', now())`,
  );
});
after(() => fixture.close());

async function due(name: string, action: ScheduleRow["action"], state = running): Promise<number> {
  await fixture.makeServer(name, state);
  return fixture.addTask(name, { action, next_run_at: new Date(fixture.clock.now) });
}
const desired = async (name: string) => (await fixture.getServer(name)).spec.desiredState;

test("a scheduled start is skipped with the window as its cause", async () => {
  const id = await due("asleep", "start", stopped);
  await replica.tick();
  const { last_result, last_code, last_cause, last_detail } = await fixture.read(id);
  assert.deepEqual([last_result, last_code, last_cause], ["skipped", "start_refused", "maintenance_window"]);
  assert.match(last_detail, /New disks\./);
  assert.equal(await desired("asleep"), "Stopped");
});

for (const action of ["restart", "backup"] as const) {
  test(`a server that a ${action} stops is started again`, async () => {
    const name = `awake-${action}`;
    const id = await due(name, action);
    await replica.tick();
    assert.equal(await desired(name), "Stopped");
    await fixture.setState(name, stopped);
    // The rest of the run, a state a tick.
    for (let left = 3; left > 0; left--) await replica.tick();
    assert.equal(await desired(name), "Running");
    assert.equal((await fixture.read(id)).last_result, "ok");
  });
}
