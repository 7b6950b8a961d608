import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { account, faultOf, staff, until } from "@svc/mesh/testing";
import { servers as contracts, ownership, type ServerTag, tags as tagContracts } from "@svc/proto";
import { type Fixture, openFixture } from "../testing/fixture.ts";
import { createServerOperations, operationSettings } from "../testing/server-operations.ts";

let fixture: Fixture;
before(async () => {
  fixture = await openFixture();
  await fixture.start(operationSettings);
});
after(() => fixture.close());

const { create, getServer } = createServerOperations(() => fixture);
type Who = typeof staff | ReturnType<typeof account>;
const write = (name: string, tags: ServerTag[], who: Who = staff) =>
  fixture.external.call(tagContracts.write, { name, tags }, who);
const red = (name: string): ServerTag => ({ name, colour: "red" });
const owner = account("usr-tags");

test("its owner and staff tag a server, and lists and its status have the tags", async () => {
  await create({ name: "tagged", owner: "usr-tags" });
  await create({ name: "plain", owner: "usr-tags" });
  const stored = [red("event night"), { name: "生存", colour: "blue" } as const];
  const answer = await write("tagged", [red(" Event Night "), { name: "生存", colour: "blue" }], owner);
  assert.deepEqual(answer, { name: "tagged", tags: stored });
  assert.deepEqual((await getServer("tagged")).spec.tags, stored);
  const mine = async () => (await fixture.external.call(ownership.listMine, {}, owner)).items;
  await until(async () => (await mine()).find(({ name }) => name === "tagged")?.tags?.length === 2);
  assert.equal((await mine()).find(({ name }) => name === "plain")?.tags, undefined);
  const status = await fixture.external.call(contracts.viewStatus, { name: "tagged" }, owner);
  assert.deepEqual("tags" in status && status.tags, stored);
  const fleet = await fixture.external.call(contracts.fleet, {}, staff);
  assert.deepEqual(fleet.items.find(({ name }) => name === "tagged")?.tags, stored);
  const entry = (await fixture.audits()).find(({ action }) => action === "server.tags");
  assert.deepEqual(entry?.payload, { tags: ["event night", "生存"] });
});

test("what is written replaces what was there, and none takes them away", async () => {
  await write("tagged", [red("one")]);
  assert.deepEqual((await getServer("tagged")).spec.tags, [red("one")]);
  assert.deepEqual(await write("tagged", []), { name: "tagged", tags: [] });
  assert.equal((await getServer("tagged")).spec.tags, undefined);
  await write("tagged", [red("one")]);
});

test("others neither set nor see them, and bad input says what is wrong", async () => {
  const stranger = account("usr-stranger");
  assert.equal(await faultOf(write("tagged", [red("mine")], stranger)), "forbidden");
  const status = await fixture.external.call(contracts.viewStatus, { name: "tagged" }, stranger);
  assert.equal("tags" in status, false);
  assert.equal(await faultOf(write("tagged", [red("a,b")])), "bad_tags");
  assert.equal(await faultOf(write("tagged", [red("a"), red("A")])), "bad_tags");
  const nine = [..."abcdefghi"].map(red);
  assert.equal(await faultOf(write("tagged", nine)), "bad_tags");
  assert.equal(await faultOf(write("tagged", [{ name: "a", colour: "pink" as "red" }])), "bad_request");
  assert.equal(await faultOf(write("nothing", [])), "not_found");
  assert.deepEqual((await getServer("tagged")).spec.tags, [red("one")]);
});

test("a change of other settings leaves them", async () => {
  await fixture.external.call(contracts.patch, { name: "tagged", displayName: "Tagged" }, staff);
  assert.deepEqual((await getServer("tagged")).spec.tags, [red("one")]);
});
