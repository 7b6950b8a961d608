// Runs of groups on a real database and a real cluster API, with a clock that the test moves; the test plays the operator.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { serverGroups as contracts } from "@svc/proto";
import { createGroupFixture, type GroupFixture } from "../testing/group/group-fixture.ts";
import {
  minute,
  openScheduleFixture,
  running,
  type ScheduleFixture,
  stopped,
} from "../testing/schedule/schedule-fixture.ts";

let base: ScheduleFixture;
let fixture: GroupFixture;
before(async () => {
  base = await openScheduleFixture(["lifecycle.max_running_servers=40"]);
  fixture = createGroupFixture(base);
});
after(() => base.close());

const sql = (text: string, values: unknown[] = []) => base.base.database.admin(text, values);
const desiredOf = async (name: string) => (await base.getServer(name)).spec.desiredState ?? "Stopped";
const desired = (...names: string[]) => Promise.all(names.map(desiredOf));

/** Three sleeping servers: one, then two together. */
let made = 0;
async function makeGroup(state = stopped) {
  made += 1;
  const names = ["a", "b", "c"].map((one) => `${one}-group-${made}`) as [string, string, string];
  for (const name of names) await base.makeServer(name, state);
  const [first, second, third] = names;
  const id = await fixture.makeGroup([[first], [second, third]]);
  return { id, names };
}
const resultsOf = ({ stages }: contracts.GroupRun) =>
  stages.map((stage) => stage.map(({ result }) => result));
const codesOf = ({ stages }: contracts.GroupRun) => stages.flat().map(({ code }) => code);

describe("a start", () => {
  test("asks a stage when the former is ready, its servers together, and says how each ended", async () => {
    const { id, names } = await makeGroup();
    const [a, b, c] = names;
    await fixture.begin(id, "start");
    await fixture.pass();
    assert.deepEqual(await desired(a, b, c), ["Running", "Stopped", "Stopped"]);
    await fixture.pass();
    assert.deepEqual(resultsOf(await fixture.run(id)), [["asked"], ["waiting", "waiting"]]);
    await base.setState(a, running);
    await fixture.pass();
    assert.deepEqual(await desired(a, b, c), ["Running", "Running", "Running"]);
    await base.setState(b, running);
    await fixture.pass();
    const half = await fixture.run(id);
    assert.deepEqual(
      [half.state, half.stage, resultsOf(half)],
      ["running", 1, [["done"], ["done", "asked"]]],
    );
    await base.setState(c, running);
    await fixture.pass();
    const run = await fixture.run(id);
    assert.deepEqual([run.state, resultsOf(run)], ["done", [["done"], ["done", "done"]]]);
    assert.deepEqual(
      await fixture.audited(names),
      names.map((name) => `server.wake ${name}`),
    );
    await fixture.sleep(names);
  });

  test("ends at a stage whose time is up, and says which servers were left out", async () => {
    const { id, names } = await makeGroup();
    await fixture.begin(id, "start");
    await fixture.pass();
    base.clock.now += 11 * minute;
    await fixture.pass();
    const run = await fixture.run(id);
    assert.deepEqual(
      [run.state, run.stage, resultsOf(run)],
      ["failed", 0, [["late"], ["left_out", "left_out"]]],
    );
    assert.deepEqual(await desired(...names), ["Running", "Stopped", "Stopped"]);
    await fixture.sleep(names);
  });

  test("gives a stage its whole time, whenever the former ended", async () => {
    const { id, names } = await makeGroup();
    await fixture.begin(id, "start");
    await fixture.pass();
    base.clock.now += 9 * minute;
    await base.setState(names[0], running);
    await fixture.pass();
    base.clock.now += 9 * minute;
    await fixture.pass();
    assert.equal((await fixture.run(id)).state, "running");
    await fixture.cancel(id);
    await fixture.pass();
    await fixture.sleep(names);
  });

  test("is refused by maintenance as a single start is, at once", async () => {
    const { id, names } = await makeGroup();
    await sql(`insert into lifecycle.announcements (id, text_en, severity, starts_at, ends_at, maintenance, public,
      created_by, created_at) values ('window', 'We move.', 'info', now() - interval '1 hour', now() + interval '1 hour',
      true, false, 'staff', now())`);
    await fixture.begin(id, "start");
    await fixture.pass();
    await fixture.pass();
    await sql("delete from lifecycle.announcements");
    const run = await fixture.run(id);
    assert.deepEqual([run.state, resultsOf(run)], ["failed", [["refused"], ["left_out", "left_out"]]]);
    assert.equal(codesOf(run)[0], "maintenance_window");
    assert.deepEqual(await desired(...names), ["Stopped", "Stopped", "Stopped"]);
  });

  test("asks again while the world of a server is locked, and says why it waits", async () => {
    const { id, names } = await makeGroup();
    await fixture.lock(names[0]);
    await fixture.begin(id, "start");
    await fixture.pass();
    const waiting = await fixture.run(id);
    assert.deepEqual([resultsOf(waiting)[0], codesOf(waiting)[0]], [["waiting"], "maintenance_in_progress"]);
    await fixture.unlock(names[0]);
    await fixture.pass();
    assert.equal(await desiredOf(names[0]), "Running");
    await fixture.cancel(id);
    await fixture.pass();
    await fixture.sleep(names);
  });

  test("leaves out a server that changed its owner, also when it is back", async () => {
    const { id, names } = await makeGroup();
    await sql("update lifecycle.servers set owner_id = 'usr-2', claimed_at = now() where name = $1", [
      names[0],
    ]);
    await sql("update lifecycle.servers set owner_id = 'usr-1', claimed_at = now() where name = $1", [
      names[1],
    ]);
    const { stages } = await fixture.view(id);
    assert.deepEqual(
      stages.map((stage) => stage.map(({ name }) => name)),
      [[names[2]]],
    );
    await fixture.begin(id, "start");
    await fixture.pass();
    assert.deepEqual(await desired(...names), ["Stopped", "Stopped", "Running"]);
    await fixture.sleep(names);
  });

  test("asks nothing of a server that changes its owner meanwhile", async () => {
    const { id, names } = await makeGroup();
    await fixture.begin(id, "start");
    await fixture.pass();
    await sql("update lifecycle.servers set owner_id = 'usr-2' where name = $1", [names[1]]);
    await base.setState(names[0], running);
    await fixture.pass();
    assert.deepEqual(await desired(...names), ["Running", "Stopped", "Running"]);
    assert.deepEqual(resultsOf(await fixture.run(id)), [["done"], ["left", "asked"]]);
    await base.setState(names[2], running);
    await fixture.pass();
    assert.equal((await fixture.run(id)).state, "done");
    await fixture.sleep(names);
  });

  test("asks nothing of a server whose owner took the account's access meanwhile", async () => {
    const { id, names } = await makeGroup();
    const members = [
      {
        ...{ user_id: "usr-1", rights: ["see", "power"], id: "mem-1", joined_at: new Date().toISOString() },
        ...{ invited_by: "usr-2", inviter_name: "bob" },
      },
    ];
    const [shared] = names;
    await sql("update lifecycle.servers set owner_id = 'usr-2' where name = $1", [shared]);
    // A change of the owner ends every access.
    await sql("update lifecycle.servers set members = $2::jsonb where name = $1", [
      shared,
      JSON.stringify(members),
    ]);
    await fixture.change(id, [[shared], [names[1]]]);
    await sql("update lifecycle.servers set members = '[]' where name = $1", [shared]);
    assert.deepEqual((await fixture.view(id)).stages[0], [{ name: shared, may: false }]);
    await fixture.begin(id, "start");
    await fixture.pass();
    await fixture.pass();
    const run = await fixture.run(id);
    assert.deepEqual([run.state, codesOf(run)[0]], ["failed", "forbidden"]);
    assert.deepEqual(await desired(...names), ["Stopped", "Stopped", "Stopped"]);
  });

  test("says of a server that somebody stopped meanwhile that it was changed", async () => {
    const { id, names } = await makeGroup();
    await fixture.begin(id, "start");
    await fixture.pass();
    await base.setState(names[0], stopped);
    await fixture.pass();
    const run = await fixture.run(id);
    assert.deepEqual([run.state, resultsOf(run)[0]], ["failed", ["changed"]]);
    assert.equal(await desiredOf(names[0]), "Stopped");
  });
});

describe("a stop", () => {
  test("passes the stages in the opposite order", async () => {
    const { id, names } = await makeGroup(running);
    const [a, b, c] = names;
    await fixture.begin(id, "stop");
    await fixture.pass();
    assert.deepEqual(await desired(a, b, c), ["Running", "Stopped", "Stopped"]);
    await base.setState(b, stopped);
    await fixture.pass();
    assert.equal(await desiredOf(a), "Running");
    await base.setState(c, stopped);
    await fixture.pass();
    assert.equal(await desiredOf(a), "Stopped");
    await base.setState(a, stopped);
    await fixture.pass();
    const run = await fixture.run(id);
    assert.deepEqual([run.state, resultsOf(run)], ["done", [["done", "done"], ["done"]]]);
    assert.deepEqual(
      await fixture.audited(names),
      names.map((name) => `server.stop ${name}`),
    );
  });
});

describe("a cancel", () => {
  test("asks no further server, and leaves alone those that were asked", async () => {
    const { id, names } = await makeGroup();
    await fixture.begin(id, "start");
    await fixture.pass();
    assert.equal((await fixture.cancel(id)).run?.cancelling, true);
    await base.setState(names[0], running);
    await fixture.pass();
    const run = await fixture.run(id);
    assert.deepEqual([run.state, resultsOf(run)], ["cancelled", [["done"], ["left_out", "left_out"]]]);
    assert.deepEqual(await desired(...names), ["Running", "Stopped", "Stopped"]);
    const again = await fixture.cancel(id);
    assert.deepEqual(again.run, run);
    await fixture.sleep(names);
  });
});

test("the account's end takes its groups along, and a run with them", async () => {
  const { id, names } = await makeGroup();
  await fixture.begin(id, "start");
  await fixture.endAccount();
  await fixture.pass();
  assert.deepEqual(await sql("select 1 from lifecycle.server_groups where id = $1", [id]), []);
  assert.deepEqual(await desired(...names), ["Stopped", "Stopped", "Stopped"]);
});
