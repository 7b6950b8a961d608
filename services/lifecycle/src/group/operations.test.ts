// The operations on groups as a gateway calls them, and a run that a whole replica carries out.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { account, faultOf, until } from "@svc/mesh/testing";
import { serverGroups as contracts } from "@svc/proto";
import { type Fixture, openFixture } from "../testing/fixture.ts";
import { createServerOperations, operationSettings } from "../testing/server-operations.ts";

let fixture: Fixture;
before(async () => {
  fixture = await openFixture();
  await fixture.start([...operationSettings, "lifecycle.group_tick=100ms"]);
  for (const name of ["alpha", "beta", "gamma"]) {
    await create({ name });
    await setOwner(name, "usr-1");
  }
  await create({ name: "foreign" });
  await setOwner("foreign", "usr-2");
});
after(() => fixture.close());

const { create, setOwner, getServer, sql } = createServerOperations(() => fixture);
const ada = account("usr-1");
const bob = account("usr-2");
type Given = Partial<{ name: string; stages: string[][]; stage_seconds: number }>;
const valid = { name: "Evening", stages: [["alpha"], ["beta", "gamma"]], stage_seconds: 600 };
const make = (given: Given = {}, who = ada) =>
  fixture.external.call(contracts.create, { ...valid, ...given }, who);
const remove = (id: string, who = ada) => fixture.external.call(contracts.remove, { id }, who);
const call = (what: "start" | "stop" | "cancel" | "read", id: string, who = ada) =>
  fixture.external.call(contracts[what], { id }, who);
const list = (who = ada) => fixture.external.call(contracts.list, {}, who);
const messageOf = (work: Promise<unknown>) =>
  work.then(
    () => "none",
    (error: Error) => error.message,
  );

describe("a group", () => {
  test("is made, changed and deleted, each with an audit entry", async () => {
    const made = await make();
    assert.deepEqual(made.stages[0], [{ name: "alpha", may: true }]);
    const given = { ...valid, id: made.id, name: "Night", stages: [["gamma"]] };
    const changed = await fixture.external.call(contracts.change, given, ada);
    assert.deepEqual([changed.name, changed.stages], ["Night", [[{ name: "gamma", may: true }]]]);
    await remove(made.id);
    assert.equal(await faultOf(call("read", made.id)), "group_not_found");
    const entries = (await fixture.audits()).filter(({ payload }) => payload["id"] === made.id);
    assert.deepEqual(
      entries.map(({ action }) => action),
      ["group.create", "group.change", "group.delete"],
    );
  });

  test("holds no server that the account may not start and stop, whether there is one or not", async () => {
    for (const name of ["foreign", "nothing"]) {
      const message = await messageOf(make({ stages: [["alpha", name]] }));
      assert.match(message, new RegExp(`no server ${name} that you own`));
    }
    assert.equal(await faultOf(make({ stages: [["alpha", "alpha"]] })), "bad_group");
    assert.deepEqual((await list()).groups, []);
  });

  test("is nobody else's: others neither see nor change nor start it", async () => {
    const { id } = await make();
    assert.deepEqual((await list(bob)).groups, []);
    for (const what of ["read", "start", "stop", "cancel"] as const)
      assert.equal(await faultOf(call(what, id, bob)), "group_not_found");
    assert.equal(await faultOf(remove(id, bob)), "group_not_found");
    const given = { ...valid, id, stages: [["foreign"]] };
    assert.equal(await faultOf(fixture.external.call(contracts.change, given, bob)), "group_not_found");
    await remove(id);
  });

  test("has a name of its own, and an account has no more of them than it may, also at once", async () => {
    const { id } = await make();
    assert.equal(await faultOf(make()), "group_name_taken");
    assert.equal(await faultOf(make({ stages: [["foreign"]] }, bob)), "none");
    const names = Array.from({ length: contracts.mostGroups + 1 }, (_, at) => `Group ${at}`);
    const answers = await Promise.all(names.map((name) => faultOf(make({ name }))));
    assert.deepEqual(
      answers.filter((one) => one !== "none"),
      ["group_limit", "group_limit"],
    );
    const { groups, limit } = await list();
    assert.deepEqual([groups.length, limit], [contracts.mostGroups, contracts.mostGroups]);
    for (const group of groups) await remove(group.id);
    assert.equal(await faultOf(call("read", id)), "group_not_found");
  });

  test("without a server any more cannot be started", async () => {
    const { id } = await make({ stages: [["gamma"]] });
    await setOwner("gamma", "usr-2");
    assert.equal(await faultOf(call("start", id)), "group_empty");
    await setOwner("gamma", "usr-1");
    await remove(id);
  });
});

test("a replica carries a run out; meanwhile the group is as it is, and a cancel ends it", async () => {
  const { id } = await make();
  const begun = await Promise.all([faultOf(call("start", id)), faultOf(call("start", id))]);
  assert.deepEqual(begun.sort(), ["group_running", "none"]);
  const { run } = await call("read", id);
  assert.deepEqual([run?.state, run?.by, run?.direction], ["running", "usr-1", "start"]);
  await until(async () => (await getServer("alpha")).spec.desiredState === "Running");
  assert.equal(await faultOf(remove(id)), "group_running");
  assert.equal(
    await faultOf(fixture.external.call(contracts.change, { ...valid, id }, ada)),
    "group_running",
  );
  await call("cancel", id);
  await until(async () => (await call("read", id)).run?.state === "cancelled");
  assert.notEqual((await getServer("beta")).spec.desiredState, "Running");
  await call("stop", id);
  await until(async () => (await call("read", id)).run?.state === "done");
  assert.equal((await getServer("alpha")).spec.desiredState, "Stopped");
  const [row] = await sql("select count(*)::int as runs from lifecycle.server_group_runs");
  assert.equal(row?.["runs"], 1);
  const entries = (await fixture.audits()).filter(({ payload }) => payload["server_group"] === "Evening");
  const wanted = ["group.start", "server.wake", "group.cancel", "group.stop", "server.stop"];
  for (const action of wanted)
    assert.ok(
      entries.some((entry) => entry.action === action),
      action,
    );
});
