// The operations as a gateway calls them, what readers see of them, and the wakes that maintenance refuses.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { account, faultOf, staff, until, velocity } from "@svc/mesh/testing";
import { announcements as contracts, type InputOf, servers as serverContracts } from "@svc/proto";
import { type Fixture, openFixture } from "../testing/fixture.ts";
import { createServerOperations, operationSettings } from "../testing/server-operations.ts";

let fixture: Fixture;
before(async () => {
  fixture = await openFixture();
  await fixture.start([
    ...operationSettings,
    "lifecycle.announcement_tick=100ms",
    "lifecycle.announcement_limit=3",
  ]);
});
after(() => fixture.close());

const operations = createServerOperations(() => fixture);
const { create, wakeFor, wake, phase, endCooldown, setOwner, sql } = operations;

const minute = 60_000;
const inMinutes = (minutes: number) => new Date(Date.now() + minutes * minute).toISOString();
type Input = InputOf<typeof contracts.create>;
const announce = (input: Partial<Input> = {}, who = staff) => {
  const given = { text: { en: "We move to new disks." }, end: inMinutes(60) };
  return fixture.external.call(contracts.create, { ...given, ...input } as Input, who);
};
const end = (id: string) => fixture.external.call(contracts.end, { id }, staff);
const list = () => fixture.external.call(contracts.list, {}, staff);
const open = async () => (await list()).announcements.filter(({ state }) => state !== "over");
const endAll = async () => {
  for (const { id } of await open()) await end(id);
};
const messageOf = (call: Promise<unknown>) =>
  call.then(
    () => "none",
    (error: Error) => error.message,
  );
const auditsOf = async (id: string) =>
  (await fixture.audits()).filter(({ payload }) => payload["id"] === id).map(({ action }) => action);

describe("announcing", () => {
  test("is one row and one audit entry for a repeat with the same id", async () => {
    const about = { id: "new-disks", end: inMinutes(30) };
    const made = await announce(about);
    assert.equal(made.state, "current");
    assert.deepEqual(await announce(about), made);
    assert.equal(await faultOf(announce({ ...about, text: { en: "Another." } })), "announcement_exists");
    assert.equal((await open()).length, 1);
    assert.deepEqual(await auditsOf("new-disks"), ["announcement.create"]);
  });

  test("twice at once with one id makes one", async () => {
    const about = { id: "at-once", end: inMinutes(30) };
    const both = await Promise.all([announce(about), announce(about)]);
    assert.deepEqual(both[0], both[1]);
    assert.equal((await open()).filter(({ id }) => id === "at-once").length, 1);
    await end("at-once");
  });

  test("is limited, also for many at once", async () => {
    const made = await Promise.all([1, 2, 3, 4].map(() => faultOf(announce())));
    assert.deepEqual(made.sort(), ["announcement_limit", "announcement_limit", "none", "none"]);
    assert.equal((await open()).length, 3);
    await endAll();
    assert.equal(await faultOf(announce()), "none");
    await endAll();
  });

  test("says what is wrong with a range", async () => {
    assert.equal(await faultOf(announce({ end: inMinutes(-1) })), "bad_announcement");
    assert.match(await messageOf(announce({ start: inMinutes(9), end: inMinutes(8) })), /after the start/);
    assert.match(await messageOf(announce({ maintenance: true, end: inMinutes(60 * 24 * 8) })), /7 days/);
  });

  test("changes and ends what is there, each with an audit entry, and nothing that is over", async () => {
    const { id } = await announce({ start: inMinutes(10), end: inMinutes(20) });
    const text = { en: "Later.", zh: "稍后。" };
    const given = { id, text, severity: "warning", maintenance: true, public: true } as const;
    const changed = await fixture.external.call(contracts.change, { ...given, end: inMinutes(40) }, staff);
    assert.deepEqual([changed.text, changed.state, changed.maintenance], [text, "planned", true]);
    assert.deepEqual([(await end(id)).state, (await end(id)).ended], ["over", true]);
    const again = fixture.external.call(contracts.change, { ...given, end: inMinutes(50) }, staff);
    assert.equal(await faultOf(again), "announcement_over");
    assert.equal(await faultOf(end("nothing")), "announcement_not_found");
    const wanted = ["announcement.create", "announcement.change", "announcement.end"];
    assert.deepEqual(await auditsOf(id), wanted);
  });
});

test("readers see what is shown, without signing in what is public, and nothing that has ended", async () => {
  const secret = await announce({ text: { en: "For who is signed in." } });
  const open = await announce({ public: true, maintenance: true, start: inMinutes(60), end: inMinutes(90) });
  const later = await announce({ start: inMinutes(60), end: inMinutes(90) });
  const mirrors = [contracts.shown, contracts.shownToAll].map((view) => fixture.external.mirrorView(view));
  try {
    const keys = () => mirrors.map((mirror) => [...mirror.keys()].sort());
    const wanted = [[secret.id, open.id].sort(), [open.id]];
    await until(
      () => mirrors.every(({ ready }) => ready) && JSON.stringify(keys()) === JSON.stringify(wanted),
    );
    const idsOf = ({ items }: { items: contracts.Announcement[] }) => items.map(({ id }) => id).sort();
    const reader = account("usr-1");
    assert.deepEqual(idsOf(await fixture.external.call(contracts.listShown, {}, reader)), wanted[0]);
    assert.deepEqual(idsOf(await fixture.external.call(contracts.listPublic, {}, {})), wanted[1]);
    assert.deepEqual(idsOf(await fixture.internal.call(contracts.listForProxy, {}, velocity)), wanted[0]);
    for (const { id } of [secret, open, later]) await end(id);
    await until(() => keys().every((one) => one.length === 0));
  } finally {
    await Promise.all(mirrors.map((mirror) => mirror.close()));
  }
});

describe("maintenance", () => {
  const player = randomUUID();
  const maintain = () => announce({ maintenance: true, text: { en: "We move to new disks." } });

  test("keeps a sleeping server asleep and says why, before any cooldown", async () => {
    await create({ name: "sleeper", autostartPolicy: "public" });
    const { id, end: until } = await maintain();
    assert.equal(await faultOf(wakeFor("sleeper", player)), "maintenance_window");
    const message = await messageOf(wake("sleeper"));
    assert.match(message, /We move to new disks\./);
    assert.ok(message.includes(` until ${until.slice(0, 10)} ${until.slice(11, 16)} UTC, `), message);
    await sql("update lifecycle.servers set last_wake_at = now() where name = 'sleeper'");
    assert.equal(await faultOf(wakeFor("sleeper", player)), "maintenance_window");
    await end(id);
    assert.equal(await faultOf(wakeFor("sleeper", player)), "cooldown");
    await endCooldown("sleeper");
    assert.equal(await faultOf(wakeFor("sleeper", player)), "none");
  });

  test("leaves a server alone that runs or is on its way", async () => {
    const { id } = await maintain();
    await endCooldown("sleeper");
    assert.equal(await faultOf(wakeFor("sleeper", player)), "none");
    assert.notEqual(await phase("sleeper"), "Stopped");
    await end(id);
  });

  test("lets staff wake who insist, and nobody else", async () => {
    await create({ name: "insisted" });
    await setOwner("insisted", "usr-1");
    const { id } = await maintain();
    const insist = (who: typeof staff) =>
      fixture.external.call(serverContracts.wake, { name: "insisted", insist: "true" }, who);
    assert.equal(await faultOf(insist(account("usr-1"))), "forbidden");
    assert.equal(await faultOf(wake("insisted")), "maintenance_window");
    assert.equal(await faultOf(insist(staff)), "none");
    await end(id);
  });

  test("that is planned or over keeps nothing asleep", async () => {
    await create({ name: "wide-awake" });
    const planned = await announce({ maintenance: true, start: inMinutes(5), end: inMinutes(9) });
    assert.equal(await faultOf(wake("wide-awake")), "none");
    await end(planned.id);
  });
});
