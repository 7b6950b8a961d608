import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { account, faultOf, staff, until } from "@svc/mesh/testing";
import { keepAwakes as contracts, ownership, servers as serverContracts } from "@svc/proto";
import { servers } from "../cluster/resource.ts";
import { namespace } from "../testing/fixture.ts";
import {
  createOwnershipOperations,
  type OwnershipFixture,
  openOwnershipFixture,
} from "../testing/ownership-operations.ts";

const hour = 3_600_000;
let fixture: OwnershipFixture;
// Two replicas, so that what one wrote is not in the copy of the other yet.
before(async () => {
  fixture = await openOwnershipFixture([
    "lifecycle.keep_awake_longest=48h",
    "lifecycle.keep_awake_servers=2",
  ]);
});
after(() => fixture.close());

const { create, specOf, auditsOf, sql } = createOwnershipOperations(() => fixture);
type Who = typeof staff | ReturnType<typeof account>;
const later = (ms = hour) => new Date(Date.now() + ms).toISOString();
const keep = (name: string, who: Who, at = later()) =>
  fixture.external.call(contracts.write, { name, until: at }, who);
const end = (name: string, who: Who) => fixture.external.call(contracts.end, { name }, who);
const read = (name: string, who: Who) => fixture.external.call(contracts.read, { name }, who);
const keptOf = async (name: string) => (await specOf(name)).idle?.keptAwake;

test("its owner keeps a server awake, sees it in its status, and ends it", async () => {
  const owner = account("usr-one");
  await create("one", { owner: "usr-one" });
  const at = later();
  assert.deepEqual(await keep("one", owner, at), { name: "one", until: at });
  assert.equal((await keptOf("one"))?.until, at);
  const spec = await specOf("one");
  assert.equal(spec.desiredState ?? "Stopped", "Stopped", "it starts nothing");
  assert.deepEqual(spec.idle?.emptySecondsBeforeStop, 600, "the idle stop itself stays as it was");
  const status = () => fixture.external.call(serverContracts.viewStatus, { name: "one" }, owner);
  await until(async () => "keptAwakeUntil" in (await status()));
  const bounds = { longest_seconds: 172_800, servers_limit: 2 };
  await until(async () => (await read("one", owner)).servers_kept === 1);
  assert.deepEqual(await read("one", owner), { until: at, servers_kept: 1, ...bounds });
  const [entry] = await auditsOf("server.keep_awake", "one");
  assert.deepEqual(entry?.payload, { until: at });
  await end("one", owner);
  assert.equal(await keptOf("one"), undefined);
  await end("one", owner);
  assert.equal((await auditsOf("server.keep_awake_end", "one")).length > 0, true);
  await until(async () => (await read("one", owner)).until === undefined);
});

test("others are refused, also what they cannot see, and bad input says what is wrong", async () => {
  const owner = account("usr-two");
  await create("two", { owner: "usr-two" });
  const stranger = account("usr-stranger");
  for (const ask of [keep, end, read]) assert.equal(await faultOf(ask("two", stranger)), "forbidden");
  assert.equal(await faultOf(keep("two", owner, later(-1))), "bad_keep_awake");
  assert.equal(await faultOf(keep("two", owner, later(49 * hour))), "bad_keep_awake");
  assert.equal(await faultOf(keep("two", staff, later(49 * hour))), "bad_keep_awake");
  assert.equal(await faultOf(keep("two", owner, "Sunday")), "bad_request");
  assert.equal(await faultOf(keep("lobby", staff)), "bad_name");
  assert.equal(await faultOf(keep("nothing", owner)), "not_found");
  assert.equal(await keptOf("two"), undefined);
});

test("members with power may, and others may not", async () => {
  await create("shared", { owner: "usr-host" });
  const invited = { joined_at: later(-hour), invited_by: "usr-host", inviter_name: "host" };
  const share = (id: string, rights: string[]) => ({ id, user_id: id, rights, ...invited });
  const members = [share("usr-power", ["see", "power"]), share("usr-see", ["see"])];
  await sql("update lifecycle.servers set members = $2 where name = $1", ["shared", JSON.stringify(members)]);
  await keep("shared", account("usr-power"));
  assert.equal(await faultOf(keep("shared", account("usr-see"))), "forbidden");
  assert.equal((await read("shared", account("usr-see"))).until !== undefined, true);
  await end("shared", account("usr-power"));
});

test("of many at once only as many are kept as are allowed; operators may keep more", async () => {
  const owner = account("usr-many");
  const names = ["many-0", "many-1", "many-2", "many-3", "many-4"];
  for (const name of names) {
    await create(name, { owner: "usr-many" });
  }
  const outcomes = await Promise.all(names.map((name) => faultOf(keep(name, owner))));
  assert.deepEqual(outcomes.toSorted(), [...Array(3).fill("keep_awake_quota_exceeded"), "none", "none"]);
  const kept = names.filter((_, index) => outcomes[index] === "none");
  const [first = "", second = ""] = kept;
  const refused = names.find((name) => !kept.includes(name)) ?? "";
  assert.equal(
    await faultOf(keep(first, owner, later(2 * hour))),
    "none",
    "one that is kept may be kept longer",
  );
  assert.equal(await faultOf(keep(refused, staff)), "none");
  assert.equal(await faultOf(keep(refused, owner)), "keep_awake_quota_exceeded");
  await end(first, owner);
  await end(second, owner);
  assert.equal(await faultOf(keep(first, owner)), "none");
});

test("a stop by a person ends it, and so does giving the server up", async () => {
  const owner = account("usr-stop");
  await create("stopped", { owner: "usr-stop" });
  await keep("stopped", owner);
  await fixture.external.call(serverContracts.stop, { name: "stopped" }, owner);
  assert.equal(await keptOf("stopped"), undefined);
  assert.equal((await specOf("stopped")).idle?.emptySecondsBeforeStop, 600);
  await keep("stopped", owner);
  await fixture.external.call(ownership.retire, { name: "stopped", confirm: "stopped" }, owner);
  assert.equal(await keptOf("stopped"), undefined);
  assert.equal(await faultOf(keep("stopped", owner)), "server_retiring");
});

test("a server that never stops by itself has nothing to be kept from", async () => {
  await create("steady", { idleStopSeconds: 0 });
  assert.equal(await faultOf(keep("steady", staff)), "no_idle_stop");
});

test("it ends by itself, also while nobody runs the server", async () => {
  await create("brief");
  await keep("brief", staff, later(1_500));
  assert.notEqual(await keptOf("brief"), undefined);
  await until(async () => (await keptOf("brief")) === undefined);
  const found = await fixture.kube.get(servers, { name: "brief", namespace });
  assert.equal(found.spec.idle?.autoStopEnabled, true);
});
