// What has been changed is in the copies of a gateway that then catches up (docs/reference/mesh.md#catch-up).

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { ViewMirror } from "@svc/mesh";
import { staff } from "@svc/mesh/testing";
import { servers as contracts } from "@svc/proto";
import { until } from "../../../../libs/mesh/src/testing.ts";
import { createWire, type Wire } from "../../../../libs/store/src/testing.ts";
import { servers } from "../cluster/resource.ts";
import { type Fixture, namespace, openFixture, type Replica } from "../testing/fixture.ts";

const withinMs = 10_000;
let fixture: Fixture;
let wire: Wire;
let replica: Replica;
let infos: ViewMirror;
let owners: ViewMirror;
before(async () => {
  fixture = await openFixture();
  wire = await createWire(fixture.database.url);
  replica = await fixture.start([], wire.url);
  infos = fixture.external.mirrorView(contracts.servers);
  owners = fixture.external.mirrorView(contracts.serverOwners);
  await until(async () => infos.isFresh() && owners.isFresh() && (await catchUp()));
});
after(async () => {
  await wire.cut().catch(() => {});
  await Promise.all([infos.close(), owners.close()]);
  await fixture.close();
});

const catchUp = async () =>
  (await Promise.all([infos, owners].map((mirror) => mirror.catchUp(withinMs)))).every(Boolean);
const entryOf = (mirror: ViewMirror, name: string): Record<string, unknown> | undefined => {
  const bytes = mirror.get(name);
  return bytes && JSON.parse(Buffer.from(bytes).toString());
};
const create = (name: string) =>
  fixture.external.call(contracts.create, { name, subdomain: name, claimable: true }, staff);
const own = (name: string, id: string) =>
  fixture.database.admin("update lifecycle.servers set owner_id = $2 where name = $1", [name, id]);

test("a server that was created has both its entries, and one that was changed has the change", async () => {
  for (let round = 0; round < 10; round++) {
    const name = `fresh-${round}`;
    await create(name);
    assert.ok(await catchUp());
    assert.ok(entryOf(infos, name) && entryOf(owners, name), `${name} is in both views`);
    await fixture.external.call(contracts.patch, { name, displayName: `Round ${round}` }, staff);
    await own(name, `usr-${round}`);
    assert.ok(await catchUp());
    assert.equal(entryOf(infos, name)?.["displayName"], `Round ${round}`);
    assert.equal(entryOf(owners, name)?.["ownerId"], `usr-${round}`);
  }
});

test("while the leader cannot hear of a change of owner, nobody's copy counts as caught up", async () => {
  await create("cut-off");
  await wire.cut();
  await own("cut-off", "usr-late");
  assert.equal(await owners.catchUp(1_000), false);
  assert.equal(entryOf(owners, "cut-off")?.["ownerId"], undefined);
  await wire.recover();
  await until(() => owners.catchUp(withinMs));
  assert.equal(entryOf(owners, "cut-off")?.["ownerId"], "usr-late");
});

test("a leader that ended between a change and its entry is waited for once, and its successor has it", async () => {
  await create("handed-over");
  await replica.stop();
  await fixture.kube.patch(
    servers,
    { name: "handed-over", namespace },
    { merge: { spec: { displayName: "By hand" } } },
  );
  await own("handed-over", "usr-next");
  assert.deepEqual(await Promise.all([infos, owners].map((mirror) => mirror.catchUp(500))), [false, false]);
  replica = await fixture.start();
  await until(catchUp, 30_000);
  assert.equal(entryOf(infos, "handed-over")?.["displayName"], "By hand");
  assert.equal(entryOf(owners, "handed-over")?.["ownerId"], "usr-next");
});
