// What works while the database or the cluster is away.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { account, faultOf, staff, velocity } from "@svc/mesh/testing";
import { servers as contracts, isFault, ownership } from "@svc/proto";
import { until } from "../../../libs/mesh/src/testing.ts";
import { createWire, type Wire } from "../../../libs/store/src/testing.ts";
import { servers } from "./cluster/resource.ts";
import { type Fixture, namespace, openFixture } from "./testing/fixture.ts";

const name = "survival";
let fixture: Fixture;
let wire: Wire;
before(async () => {
  fixture = await openFixture();
  wire = await createWire(fixture.database.url);
  await fixture.start([], wire.url);
  await fixture.external.call(contracts.create, { name, subdomain: name, claimable: true }, staff);
  await until(async () => (await phaseInRow()) === "Stopped");
});
after(async () => {
  await wire.cut().catch(() => {});
  await fixture.close();
});

const read = () => fixture.internal.call(contracts.readStatus, { name }, velocity);
const setStorage = (size: string) =>
  fixture.kube.patch(servers, { name, namespace }, { merge: { spec: { storage: { size } } } });
const phaseInRow = async () => {
  const [row] = await fixture.database.admin("select cached_phase from lifecycle.servers where name = $1", [
    name,
  ]);
  return row?.["cached_phase"];
};

test("without a database nobody vouches for the view of owners; when it is back, a change is in it", async () => {
  const mirror = fixture.external.mirrorView(contracts.serverOwners);
  const owner = () => {
    const bytes = mirror.get(name);
    return bytes && JSON.parse(Buffer.from(bytes).toString()).ownerId;
  };
  const own = (id: string | null) =>
    fixture.database.admin("update lifecycle.servers set owner_id = $2 where name = $1", [name, id]);
  await until(() => mirror.isFresh() && owner() === undefined);
  await own("usr-1");
  await until(() => owner() === "usr-1");
  await wire.cut();
  await own("usr-2");
  await until(() => !mirror.isFresh(), contracts.serverOwners.staleAfterMs + 2_000);
  assert.equal(owner(), "usr-1");
  await wire.recover();
  await until(() => mirror.isFresh());
  assert.equal(owner(), "usr-2", "vouched for only with the change");
  await own(null);
  await until(() => owner() === undefined);
  await mirror.close();
});

test("without a database servers are still reconciled and read, and the rows catch up", async () => {
  await wire.cut();
  await setStorage("not a size");
  await until(async () => (await read()).phase === "Failed");
  assert.equal(await faultOf(fixture.external.call(contracts.wake, { name }, staff)), "unavailable");
  const answer = await fixture.internal.call(contracts.ready, {}).catch((error: unknown) => error);
  assert.ok(isFault(answer) && answer.fault === "not_ready");
  assert.match(answer.message, /database/);
  assert.equal(await phaseInRow(), "Stopped");
  await wire.recover();
  await until(async () => (await phaseInRow()) === "Failed");
  const events = await fixture.database.admin("select body from lifecycle.outbox order by id desc limit 1");
  const { from, to, reason } = JSON.parse(String(events[0]?.["body"]));
  assert.deepEqual([from, to, reason], ["Stopped", "Failed", "InvalidSpec"]);
  await until(async () => (await faultOf(fixture.internal.call(contracts.ready, {}))) === "none");
});

test("without the cluster readiness names it, and the copies are still read", async () => {
  await fixture.end();
  const answer = await fixture.internal.call(contracts.ready, {}).catch((error: unknown) => error);
  assert.ok(isFault(answer) && answer.fault === "not_ready");
  assert.match(answer.message, /cluster/);
  assert.equal((await read()).phase, "Failed");
  assert.equal(await faultOf(fixture.external.call(contracts.stop, { name }, staff)), "unavailable");
});

test("without the cluster the caller's list comes from the database, without phases and players", async () => {
  const mine = () => fixture.external.call(ownership.listMine, {}, account("usr-1"));
  await until(async () => (await mine()).items[0]?.phase === undefined);
  const row = { name, subdomain: name, owned: false, claimable: true, playersOnline: 0, playersMax: 0 };
  assert.deepEqual(await mine(), { items: [row] });
  assert.equal(
    await faultOf(fixture.external.call(ownership.claim, { name }, account("usr-1"))),
    "not_linked",
  );
});
