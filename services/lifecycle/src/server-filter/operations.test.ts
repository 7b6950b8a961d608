// Saved filters as a gateway asks for them, of two replicas.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { account, faultOf } from "@svc/mesh/testing";
import { serverFilters as contracts, type InputOf } from "@svc/proto";
import type { Store } from "@svc/store";
import type { Tables } from "../database/schema.ts";
import { endAccessOf } from "../sharing/end-access.ts";
import { type Fixture, openFixture } from "../testing/fixture.ts";
import { operationSettings } from "../testing/server-operations.ts";

let fixture: Fixture;
let tables: Store<Tables>;
before(async () => {
  fixture = await openFixture();
  await Promise.all([fixture.start(operationSettings), fixture.start(operationSettings)]);
  tables = fixture.database.open<Tables>();
});
after(async () => {
  await tables.close();
  await fixture.close();
});

type Given = Partial<InputOf<typeof contracts.save>>;
const ada = account("usr-1");
const valid = { name: "Event", search: "night", tag: "", node: "", sort: "name" as const };
const save = (given: Given = {}, who = ada) =>
  fixture.external.call(contracts.save, { ...valid, ...given }, who);
const list = async (who = ada) => (await fixture.external.call(contracts.list, {}, who)).filters;
const remove = (id: string, who = ada) => fixture.external.call(contracts.remove, { id }, who);

describe("a filter", () => {
  test("is saved with all that it finds, replaced under its name, and deleted", async () => {
    const made = await save({ tag: " Event ", show: "awake", sort: "players", node: "worker-1" });
    assert.deepEqual(made, {
      ...{ id: made.id, name: "Event", search: "night", show: "awake" },
      ...{ tag: "event", node: "worker-1", sort: "players" },
    });
    assert.deepEqual(await list(), [made]);
    const replaced = await save({ search: "", tag: "other" });
    assert.deepEqual(replaced, { ...valid, id: made.id, search: "", tag: "other" });
    assert.deepEqual(await list(), [replaced]);
    await remove(made.id);
    await remove(made.id);
    assert.deepEqual(await list(), []);
  });

  test("is nobody else's: others neither see nor delete it, and have names of their own", async () => {
    const bob = account("usr-2");
    const { id } = await save();
    assert.deepEqual(await list(bob), []);
    await remove(id, bob);
    assert.equal((await save({ search: "mine" }, bob)).search, "mine");
    assert.deepEqual(await list(), [{ ...valid, id }]);
    await remove(id);
  });

  test("that says nothing, or something that is not known, is refused and not kept", async () => {
    assert.equal(await faultOf(save({ name: " " })), "bad_filter");
    assert.equal(await faultOf(save({ search: "" })), "bad_filter");
    assert.equal(await faultOf(save({ show: "everything" as "awake" })), "bad_request");
    assert.equal(await faultOf(save({ sort: "size" as "name" })), "bad_request");
    assert.deepEqual(await list(), []);
  });
});

test("a request that comes twice, at once and at two replicas, is one filter", async () => {
  const carol = account("usr-3");
  const made = await Promise.all(Array.from({ length: 8 }, () => save({}, carol)));
  assert.equal(new Set(made.map(({ id }) => id)).size, 1);
  assert.equal((await list(carol)).length, 1);
});

test("of many at once no more are kept than there may be, and one that is there can still be changed", async () => {
  const dora = account("usr-4");
  const names = Array.from({ length: contracts.mostFilters + 5 }, (_, n) => `Filter ${n}`);
  const outcomes = await Promise.all(names.map((name) => faultOf(save({ name }, dora))));
  assert.equal(outcomes.filter((outcome) => outcome === "filter_limit").length, 5);
  const kept = await list(dora);
  assert.equal(kept.length, contracts.mostFilters);
  const [first] = kept;
  assert.equal((await save({ name: first?.name ?? "", search: "new" }, dora)).id, first?.id);
});

test("they go with their account", async () => {
  const finn = account("usr-6");
  await save({}, finn);
  await tables.db.transaction().execute((trx) => endAccessOf(trx, "usr-6"));
  assert.deepEqual(await list(finn), []);
});
