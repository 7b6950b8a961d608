// The operations as gateways call them, what their views hold, and the minutes that are counted.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { account, faultOf, staff, until } from "@svc/mesh/testing";
import { announcements, statusPages as contracts, ownership } from "@svc/proto";
import type { Tables } from "../database/schema.ts";
import {
  createOwnershipOperations,
  type OwnershipFixture,
  openOwnershipFixture,
} from "../testing/ownership-operations.ts";
import { createStatusPageStore } from "./store.ts";

let fixture: OwnershipFixture;
// Two replicas, so that one shows what the other was told.
before(async () => {
  fixture = await openOwnershipFixture(["lifecycle.status_page_tick=100ms"]);
});
after(() => fixture.close());

const { create, sql, auditsOf } = createOwnershipOperations(() => fixture);
const anonymous = { client: staff.client, principal: { kind: "anonymous" } } as typeof staff;
type Who = typeof staff | ReturnType<typeof account>;
const show = (name: string, who: Who, isPublic = true) =>
  fixture.external.call(contracts.write, { name, public: isPublic }, who);
const read = (name: string, who: Who) => fixture.external.call(contracts.read, { name }, who);
const pageOf = (subdomain: string) => fixture.external.call(contracts.readPage, { subdomain }, anonymous);
const messageOf = (call: Promise<unknown>) =>
  call.then(
    () => "none",
    (error: Error) => error.message,
  );

describe("showing a page", () => {
  const owner = account("usr-one");

  test("is done by its owner and by staff, once, and undone", async () => {
    await create("one", { owner: "usr-one", subdomain: "first" });
    assert.deepEqual(await read("one", owner), {
      ...{ public: false, subdomain: "first", address: "first.svc.localhost", listed: false },
    });
    assert.equal(await faultOf(pageOf("first")), "not_found");
    const shown = await show("one", owner);
    assert.equal(shown.public, true);
    assert.equal((await show("one", staff)).since, shown.since, "the same once more changes nothing");
    const page = await pageOf("first");
    assert.deepEqual([page.name, page.address, page.state], ["first", "first.svc.localhost", "asleep"]);
    assert.doesNotMatch(JSON.stringify(page), /"one"|usr-one/);
    assert.equal((await show("one", staff, false)).public, false);
    assert.equal(await faultOf(pageOf("first")), "not_found");
    const entries = await auditsOf("server.status_page", "one");
    assert.deepEqual(
      entries.map(({ payload }) => payload["public"]),
      [true, false],
    );
  });

  test("many at once are one row and one audit entry", async () => {
    await create("many", { owner: "usr-one" });
    await Promise.all([1, 2, 3, 4].map(() => show("many", owner)));
    assert.equal((await auditsOf("server.status_page", "many")).length, 1);
    await show("many", owner, false);
  });

  test("is refused to members and strangers, and at servers of the platform", async () => {
    await create("two", { owner: "usr-two" });
    const joined = { joined_at: new Date().toISOString(), invited_by: "usr-two", inviter_name: "two" };
    const member = { id: "m", user_id: "usr-member", rights: ["see", "settings"], ...joined };
    await sql("update lifecycle.servers set members = $2 where name = $1", ["two", JSON.stringify([member])]);
    for (const who of [account("usr-member"), account("usr-stranger")]) {
      assert.equal(await faultOf(show("two", who)), "forbidden");
      assert.equal(await faultOf(read("two", who)), "forbidden");
    }
    assert.equal(await faultOf(show("lobby", staff)), "bad_name");
    assert.equal(await faultOf(show("nothing", staff)), "not_found");
  });

  test("ends with the owner who wanted it, also for a moment without one", async () => {
    await create("passed", { owner: "usr-three" });
    await show("passed", account("usr-three"));
    assert.equal(await faultOf(pageOf("passed")), "none");
    for (const next of [null, "usr-four"]) {
      await sql("update lifecycle.servers set owner_id = $2 where name = $1", ["passed", next]);
      assert.equal(await faultOf(pageOf("passed")), "not_found");
    }
    assert.equal((await read("passed", account("usr-four"))).public, false);
    assert.equal((await show("passed", account("usr-four"))).public, true);
    assert.deepEqual(
      (await pageOf("passed")).days.filter(({ known_minutes }) => known_minutes > 1),
      [],
    );
  });

  test("what is not shown is answered as what is not there, to the word", async () => {
    await create("hidden", { owner: "usr-one", subdomain: "hidden-world" });
    const answers = await Promise.all(
      ["hidden-world", "hidden", "no-such-world", "lobby", "..", "UPPER", "a".repeat(255)].map((one) =>
        messageOf(pageOf(one)),
      ),
    );
    assert.equal(new Set(answers).size, 1, answers.join("\n"));
  });
});

describe("what gateways answer from", () => {
  test("is written while a page is shown, and follows the server", async () => {
    const mesh = await fixture.nats.connect("gateway-external");
    const mirror = mesh.mirrorView(contracts.pages);
    const entry = (key: string) => {
      const bytes = mirror.get(key);
      return bytes && contracts.StatusPage.parse(JSON.parse(Buffer.from(bytes).toString()));
    };
    await create("seen", { owner: "usr-five", subdomain: "seen-world", displayName: "Seen" });
    await create("unseen", { owner: "usr-five", subdomain: "unseen-world" });
    await show("seen", account("usr-five"));
    await until(() => entry("seen-world") !== undefined);
    assert.equal(entry("seen-world")?.name, "Seen");
    assert.equal(entry("unseen-world"), undefined);
    await until(() => (entry("seen-world")?.days.length ?? 0) === 1);
    const end = new Date(Date.now() + 3_600_000).toISOString();
    const about = { text: { en: "New disks." }, end, maintenance: true, public: true };
    const made = await fixture.external.call(
      announcements.create,
      { ...about, severity: "info", id: "disks" },
      staff,
    );
    await until(() => entry("seen-world")?.state === "maintenance");
    assert.equal(entry("seen-world")?.until, made.end);
    await fixture.external.call(announcements.end, { id: "disks" }, staff);
    await until(() => entry("seen-world")?.state === "asleep");
    await fixture.external.call(ownership.retire, { name: "seen", confirm: "seen" }, account("usr-five"));
    await until(() => entry("seen-world")?.state === "unavailable");
    await show("seen", staff, false);
    await until(() => entry("seen-world") === undefined);
    await mirror.close();
    await mesh.drain(500);
  });
});

describe("the page of the installation", () => {
  const overview = () => fixture.external.call(contracts.readOverview, {}, anonymous);
  const showAll = (isPublic: boolean) =>
    fixture.external.call(contracts.writeOverall, { public: isPublic }, staff);

  test("is shown by staff, and lists the servers that are shown", async () => {
    await create("listed", { owner: "usr-six" });
    assert.equal(await faultOf(overview()), "not_found");
    await show("listed", account("usr-six"));
    assert.equal(await faultOf(overview()), "not_found", "the page of a server is not that of all");
    const { public: isPublic, servers } = await showAll(true);
    assert.deepEqual([isPublic, servers > 0], [true, true]);
    await showAll(true);
    assert.deepEqual(
      (await overview()).servers.filter(({ name }) => name === "listed").map(({ state }) => state),
      ["asleep"],
    );
    assert.equal((await read("listed", account("usr-six"))).listed, true);
    await showAll(false);
    assert.equal(await faultOf(overview()), "not_found");
    const entries = (await fixture.audits()).filter(({ action }) => action === "platform.status_page");
    assert.deepEqual(
      entries.map(({ payload }) => payload["public"]),
      [true, false],
    );
  });
});

test("a minute is counted once, whoever counts it how often, and old days go", async () => {
  await create("counted", { owner: "usr-seven" });
  await show("counted", account("usr-seven"));
  await sql("delete from lifecycle.status_days");
  const opened = fixture.database.open<Tables>();
  const store = createStatusPageStore(opened);
  const day = "2024-02-29";
  const minute = (hour: number) => new Date(`${day}T${String(hour).padStart(2, "0")}:00:00.000Z`);
  const down = [{ name: "counted", as: "down" as const }];
  await Promise.all([1, 2, 3].map(() => store.count(minute(1), down)));
  await store.count(minute(0), down);
  await store.count(minute(2), [
    { name: "counted", as: "planned" },
    { name: "gone", as: "up" },
  ]);
  const counted = { name: "counted", day, known_minutes: 2, down_minutes: 1, planned_minutes: 1 };
  assert.deepEqual(await store.count(minute(1), down), [], "a minute that is over is not counted again");
  // Those of today are counted by the replica that leads.
  const daysOf2024 = async () =>
    (await store.days(["counted", "gone"], day)).filter((one) => one.day < "2025");
  assert.deepEqual(await daysOf2024(), [counted]);
  await store.sweep("2024-03-01");
  assert.deepEqual(await daysOf2024(), []);
  await opened.close();
});
